#include "terminal/line_input.h"

#include <dlfcn.h>
#include <histedit.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "files/output_file.h"
#include "service/progress.h"
#include "text/test_set/test_set.h"

#ifdef ATTN_HAS_LIBEDIT
#endif

namespace attn {

#ifdef ATTN_HAS_LIBEDIT
/// The libedit functions used here, under their own names. The library and its dependencies are
/// loaded at the first prompt; ordinary linking would load them at every start.
struct EditLibrary {
  decltype(&::el_init) el_init;
  decltype(&::el_end) el_end;
  decltype(&::el_set) el_set;
  decltype(&::el_gets) el_gets;
  decltype(&::el_resize) el_resize;
  decltype(&::history_init) history_init;
  decltype(&::history_end) history_end;
  decltype(&::history) history;
};
#endif

namespace {

constexpr const char* kPrompt = "> ";

termios as_before{};  ///< the terminal's settings, written before `editing` is set
std::atomic<bool> editing{false};

#ifdef ATTN_HAS_LIBEDIT

bool terminal_edits() {
  const char* term = std::getenv("TERM");
  return term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

/// Handles Ctrl-Z: restores the terminal for the shell, and continues the line when the program
/// resumes.
extern "C" void suspend(int /*number*/) {
  const bool was_editing = editing;
  termios edited{};
  if (was_editing) {
    tcgetattr(STDIN_FILENO, &edited);
    tcsetattr(STDIN_FILENO, TCSANOW, &as_before);
  }
  raise(SIGSTOP);
  if (was_editing) tcsetattr(STDIN_FILENO, TCSANOW, &edited);
}

/// Returns nothing if libedit is not installed.
std::optional<EditLibrary> load_libedit() {
  void* handle = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::nullopt;
  EditLibrary library{};
  bool complete = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    complete = complete && function != nullptr;
  };
  find(library.el_init, "el_init");
  find(library.el_end, "el_end");
  find(library.el_set, "el_set");
  find(library.el_gets, "el_gets");
  find(library.el_resize, "el_resize");
  find(library.history_init, "history_init");
  find(library.history_end, "history_end");
  find(library.history, "history");
  return complete ? std::optional(library) : std::nullopt;
}

char* prompt_text(EditLine* /*editor*/) {
  static char text[] = "> ";
  return text;
}

#endif

}  // namespace

#ifdef ATTN_HAS_LIBEDIT

class Prompt::Editor {
 public:
  explicit Editor(const EditLibrary& library) : edit_(library) {
    // Input and display use UTF-8, like everything that the program reads and writes.
    if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "");
    tcgetattr(STDIN_FILENO, &as_before);
    line_ = edit_.el_init("attn-demo", stdin, stdout, stderr);
    history_ = edit_.history_init();
    if (line_ == nullptr || history_ == nullptr) throw std::bad_alloc();
    HistEvent event{};
    edit_.history(history_, &event, H_SETSIZE, 1000);
    edit_.history(history_, &event, H_SETUNIQUE, 1);
    edit_.el_set(line_, EL_PROMPT, prompt_text);
    edit_.el_set(line_, EL_EDITOR, "emacs");
    edit_.el_set(line_, EL_HIST, edit_.history, history_);
    edit_.el_set(line_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    struct sigaction stopping {};
    stopping.sa_handler = suspend;
    stopping.sa_flags = SA_RESTART;
    sigaction(SIGTSTP, &stopping, nullptr);
  }
  ~Editor() {
    edit_.history_end(history_);
    edit_.el_end(line_);
  }
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  std::optional<std::string> next() {
    edit_.el_resize(line_);  // the window size may have changed
    int count = 0;
    editing = true;
    const char* text = edit_.el_gets(line_, &count);
    editing = false;
    if (text == nullptr || count <= 0) return std::nullopt;
    std::string typed(text, to_size(count));
    while (typed.ends_with('\n') || typed.ends_with('\r')) typed.pop_back();
    HistEvent event{};
    if (!typed.empty()) edit_.history(history_, &event, H_ENTER, typed.c_str());
    return typed;
  }

 private:
  EditLibrary edit_;
  EditLine* line_ = nullptr;
  History* history_ = nullptr;
};

#else

class Prompt::Editor {
 public:
  std::optional<std::string> next() { return std::nullopt; }
};

#endif

Prompt::Prompt() {
#ifdef ATTN_HAS_LIBEDIT
  if (!terminal_edits()) return;
  if (const auto library = load_libedit()) editor_ = std::make_unique<Editor>(*library);
#endif
}

Prompt::~Prompt() = default;

std::optional<LineReader::Line> Prompt::next() {
  output().flush();
  std::optional<LineReader::Line> line;
  if (editor_) {
    if (std::optional<std::string> typed = editor_->next()) {
      line.emplace();
      line->dropped = typed->size() - std::min(typed->size(), LineReader::max_line_bytes);
      typed->resize(typed->size() - line->dropped);
      line->bytes = std::move(*typed);
    }
  } else {
    output().write(kPrompt);
    output().flush();
    line = reader_.next();
  }
  if (!line) output().write("\n");  // makes the shell's prompt begin on a new line
  return line;
}

void restore_terminal() noexcept {
  if (!editing.exchange(false)) return;
  tcsetattr(STDIN_FILENO, TCSANOW, &as_before);
  std::ignore = write(STDOUT_FILENO, "\n", 1);
}

namespace {

/// True if a file's first line is markup or has two columns, so that the whole file should be
/// read.
bool may_be_test_set(int descriptor, const std::string& path) {
  std::array<char, 4096> block{};
  const ssize_t size = pread(descriptor, block.data(), block.size(), 0);
  if (size <= 0) return false;
  const std::string_view start(block.data(), to_size(size));
  const std::string_view line = start.substr(0, std::min(start.find('\n'), start.size()));
  return may_be_markup(start) || std::ranges::count(line, '\t') == 1 ||
         ascii_lower(path).ends_with(".tsv");
}

}  // namespace

LineSource::LineSource(const std::string& input, Markup markup) : markup_(markup) {
  if (names_stdin(input)) return;
  struct stat status = {};
  file_.emplace(open_to_read(input, status));
  name_ = printable(input);
  if (markup == Markup::html || !S_ISREG(status.st_mode)) return;
  if (!may_be_test_set(file_->number(), input)) return;
  if (auto found = texts_of_role(read_text_file(input), input, TextRole::source)) {
    note(found->note);
    test_set_ = std::move(found->texts.front().lines);
  }
}

std::size_t LineSource::read_test_set(std::size_t batch,
                                      const std::function<void(const Lines&)>& action) const {
  Progress progress("translating", "sentences");
  for (std::size_t first = 0; first < test_set_->size(); first += batch) {
    const std::size_t last = std::min(first + batch, test_set_->size());
    Lines lines;
    for (std::size_t i = first; i < last; ++i) lines.push_back({(*test_set_)[i], 0});
    action(lines);
    output().flush();
    progress.update_of(last, test_set_->size());
  }
  return test_set_->size();
}

/// Reads the rest of a pipe whose first line is markup.
void LineSource::take_test_set(LineReader& reader, std::string first_line) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  std::string bytes = std::move(first_line);
  while (const std::optional<LineReader::Line> line = reader.next()) {
    if (line->dropped > 0 || bytes.size() > kMost) {
      throw InputError("{}: found markup with {}; pass a test set as a file instead: --input FILE",
                       name_, line->dropped > 0 ? "very long lines" : "more than 1 GB");
    }
    bytes += '\n';
    bytes += line->bytes;
  }
  std::optional<RoleTexts> found = texts_of_role(bytes, name_, TextRole::source);
  if (!found) throw InputError("{}: found markup, expected plain lines or a test set", name_);
  note(found->note);
  test_set_ = std::move(found->texts.front().lines);
}

std::size_t LineSource::for_each(std::size_t batch,
                                 const std::function<void(const Lines&)>& action) {
  if (test_set_) return read_test_set(batch, action);
  if (file_) return read(LineReader(file_->number(), name_), batch, action);
  if (!stdin_is_terminal()) return read(LineReader(), batch, action);
  const bool prompt = stdout_is_terminal();
  note(fmt::format("type a sentence and press Enter; {}Ctrl-D quits",
                   prompt ? "help says more, quit or " : ""));
  return prompt ? read_prompt(action) : read(LineReader(), batch, action);
}

std::size_t LineSource::read_prompt(const std::function<void(const Lines&)>& action) const {
  Prompt prompt;
  std::size_t done = 0;
  while (std::optional<LineReader::Line> line = prompt.next()) {
    if (line->bytes == "quit" || line->bytes == "exit") break;
    if (line->bytes == "help") {
      note(
          "each line is translated, and with --show best a map is shown below it; quit, exit or "
          "Ctrl-D ends; to translate these words, add a full stop");
      continue;
    }
    const Progress progress("translating");
    action({std::move(*line)});
    output().flush();
    ++done;
  }
  return done;
}

std::size_t LineSource::read(LineReader reader, std::size_t batch,
                             const std::function<void(const Lines&)>& action) {
  std::optional<Progress> progress;
  if (file_ || !stdin_is_terminal()) progress.emplace("translating", "sentences");
  std::size_t done = 0;
  bool more = true;
  while (more) {
    Lines lines;
    // End a batch early when no more input is ready, so that a person typing gets an answer per
    // line.
    while (lines.size() < batch && (lines.empty() || reader.ready())) {
      std::optional<LineReader::Line> line = reader.next();
      if (!line) {
        more = false;
        break;
      }
      if (done + lines.size() == 0) {
        reject_utf16(line->bytes, name_);
        if (line->bytes.starts_with("\xEF\xBB\xBF")) line->bytes.erase(0, 3);  // a byte order mark
        if (markup_ == Markup::test_sets && is_declared_markup(line->bytes)) {
          take_test_set(reader, std::move(line->bytes));
          progress.reset();
          return read_test_set(batch, action);
        }
      }
      lines.push_back(std::move(*line));
    }
    if (lines.empty()) break;
    action(lines);
    output().flush();
    done += lines.size();
    if (progress) progress->update(done, reader.fraction_read());
  }
  return done;
}

}  // namespace attn
