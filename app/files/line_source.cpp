#include "files/line_source.h"

#include <sys/stat.h>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "files/output_file.h"
#include "service/progress.h"
#include "terminal/line_input.h"

namespace attn {

LineSource::LineSource(const std::string& input) {
  if (names_stdin(input)) return;
  struct stat status = {};
  file_.emplace(open_to_read(input, status));
  name_ = printable(input);
}

std::size_t LineSource::for_each(std::size_t batch,
                                 const std::function<void(const Lines&)>& action) {
  if (file_) return read(LineReader(file_->number(), name_), batch, action);
  if (!stdin_is_terminal()) return read(LineReader(), batch, action);
  const bool prompt = stdout_is_terminal();
  note(fmt::format("type a sentence and press Enter; {}Ctrl-D ends",
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
          "each line is translated; attn-demo translate --show best shows a map under each; quit, "
          "exit or Ctrl-D ends; with a full stop these words are sentences");
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
                             const std::function<void(const Lines&)>& action) const {
  std::optional<Progress> progress;
  if (file_ || !stdin_is_terminal()) progress.emplace("translating", "sentences");
  std::size_t done = 0;
  bool more = true;
  while (more) {
    Lines lines;
    // A batch is cut short when no more input is ready: a person typing gets an answer a line.
    while (lines.size() < batch && (lines.empty() || reader.ready())) {
      std::optional<LineReader::Line> line = reader.next();
      if (!line) {
        more = false;
        break;
      }
      if (done + lines.size() == 0) reject_utf16(line->bytes, name_);
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
