#include "terminal/console.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/at.h"
#include "base/error.h"
#include "base/files/descriptor.h"
#include "base/strings/utf8.h"
#include "config/attention_site.h"
#include "terminal/progress.h"
#include "view/color.h"
#include "view/terminal/styled_text.h"

namespace attn {
namespace {

constexpr int widest_pipe = 10'000;

}  // namespace

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

Output& output() {
  static Output instance;
  return instance;
}

Output::~Output() = default;  // whatever was not flushed belongs to a failed run

void Output::write(std::string_view text) {
  if (reader_left_) return;
  buffer_ += text;
  if (buffer_.size() > (std::size_t{1} << 16)) flush();
}

void Output::flush() {
  if (buffer_.empty()) return;
  if (!stdout_is_terminal()) return write_all();
  write_beside_progress(buffer_.ends_with('\n'), [this] { write_all(); });
}

void Output::write_all() {
  std::size_t written = 0;
  while (written < buffer_.size()) {
    const ssize_t n = ::write(STDOUT_FILENO, buffer_.data() + written, buffer_.size() - written);
    if (n >= 0) {
      written += to_size(n);
    } else if (errno == EINTR) {
      continue;
    } else if (errno == EPIPE && !outlives_reader_) {
      throw ClosedPipe{};
    } else if (errno == EPIPE) {
      reader_left_ = true;
      break;
    } else {
      throw SystemError("stdout: cannot write: {}; nothing after this point was written",
                        std::strerror(errno));
    }
  }
  buffer_.clear();
}

void note(std::string_view text) {
  // If stderr is full, continue anyway.
  const std::string line = error_line("note: " + shorten_message(printable(text)));
  write_beside_progress(true, [&line] { std::fputs(line.c_str(), stderr); });
}

std::string error_line(std::string_view printable_text) {
  if (!stderr_is_terminal()) return std::string(printable_text) + "\n";
  constexpr int indent = 2;
  const int width = window_width(STDERR_FILENO).value_or(TerminalStyle().width);
  return wrap_words(printable_text, std::max(width, min_terminal_width) - indent, indent);
}

bool stdin_is_terminal() {
  return isatty(STDIN_FILENO) == 1;
}
bool stdout_is_terminal() {
  return isatty(STDOUT_FILENO) == 1;
}
bool stderr_is_terminal() {
  return isatty(STDERR_FILENO) == 1;
}

std::optional<int> window_width(int descriptor) {
  winsize window{};
  if (ioctl(descriptor, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return std::nullopt;
  return window.ws_col;
}

std::optional<int> window_height(int descriptor) {
  winsize window{};
  if (ioctl(descriptor, TIOCGWINSZ, &window) != 0 || window.ws_row == 0) return std::nullopt;
  return window.ws_row;
}

namespace {
ColorChoice color_choice = ColorChoice::automatic;
}

void choose_color(ColorChoice choice) {
  color_choice = choice;
}

TerminalStyle terminal_style() {
  TerminalStyle style;
  const std::optional<int> wanted = parse_index(environment("COLUMNS"));
  if (wanted && *wanted > 0 && *wanted <= widest_pipe) style.width = *wanted;
  const bool terminal = stdout_is_terminal();
  if (terminal) {
    style.width = window_width(STDOUT_FILENO).value_or(style.width);
    style.height = window_height(STDOUT_FILENO).value_or(0);
  }
  const std::string_view term = environment("TERM");
  const bool takes_color =
      terminal && environment("NO_COLOR").empty() && !term.empty() && term != "dumb";
  if (color_choice == ColorChoice::never) return style;
  if (color_choice == ColorChoice::automatic && !takes_color) return style;
  const std::string_view depth = environment("COLORTERM");
  style.color =
      depth == "truecolor" || depth == "24bit" ? ColorMode::true_color : ColorMode::shades_256;
  return style;
}

TerminalStyle painted_style() {
  TerminalStyle style = terminal_style();
  if (style.color != ColorMode::none && background_is_light())
    style.color = for_light_background(style.color);
  return style;
}

bool LineReader::fill() {
  char block[16384];
  for (;;) {
    const ssize_t n = ::read(descriptor_, block, sizeof block);
    if (n > 0) {
      buffer_.append(block, to_size(n));
      total_read_ += to_size(n);
      return true;
    }
    if (n == 0) {
      end_ = true;
      return false;
    }
    if (errno != EINTR) {
      throw SystemError("{}: cannot read: {}; check what is piped in", name_, std::strerror(errno));
    }
  }
}

bool LineReader::take_line(Line& line) {
  const std::size_t newline = buffer_.find('\n', start_);
  if (newline == std::string::npos) {
    // An endless line must not fill the memory: keep its start, count the rest.
    if (buffer_.size() - start_ > max_line_bytes) {
      dropped_ += buffer_.size() - start_ - max_line_bytes;
      buffer_.resize(start_ + max_line_bytes);
    }
    if (!end_ || start_ == buffer_.size()) return false;
  }
  const std::size_t stop = std::min(newline, buffer_.size());
  std::size_t kept = stop - start_;
  line.dropped = dropped_;
  if (kept > 0 && buffer_[start_ + kept - 1] == '\r') --kept;
  if (kept > max_line_bytes) {
    line.dropped += kept - max_line_bytes;
    kept = max_line_bytes;
  }
  line.bytes.assign(buffer_, start_, kept);
  start_ = std::min(stop + 1, buffer_.size());
  dropped_ = 0;
  if (start_ == buffer_.size()) {
    buffer_.clear();
    start_ = 0;
  }
  return true;
}

std::optional<LineReader::Line> LineReader::next() {
  Line line;
  for (;;) {
    if (take_line(line)) return line;
    if (end_) return std::nullopt;
    if (start_ > 0) {
      buffer_.erase(0, start_);
      start_ = 0;
    }
    fill();
  }
}

bool LineReader::ready() {
  while (!end_ && buffer_.find('\n', start_) == std::string::npos) {
    pollfd descriptor{descriptor_, POLLIN, 0};
    if (poll(&descriptor, 1, 0) <= 0) return false;
    fill();
    if (buffer_.size() - start_ > max_line_bytes) return true;
  }
  return true;
}

std::optional<double> LineReader::fraction_read() const {
  struct stat info {};
  if (fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0) {
    return std::nullopt;
  }
  const auto used = static_cast<double>(total_read_ - (buffer_.size() - start_));
  return std::min(1.0, used / static_cast<double>(info.st_size));
}

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto patience = std::chrono::milliseconds(300);
constexpr auto patience_with_network = std::chrono::milliseconds(1000);
constexpr float middle_grey = 0.18f;  // luminance, halfway to white for the eye

/// The last field of "0;15" or "0;default;15" is the background's index in the 16-color palette.
std::optional<bool> light_by_palette(std::string_view colors) {
  const std::optional<int> ground = parse_index(split_at(colors, ';').back());
  if (!ground || *ground > 15) return std::nullopt;
  return *ground == 7 || *ground > 8;
}

/// Parses "rgb:ffff/ffff/ffff", with one to four hexadecimal digits per part.
std::optional<bool> light_by_answer(std::string_view answer) {
  const std::size_t start = answer.find("]11;rgb");
  const std::size_t colon = answer.find(':', std::min(start, answer.size()));
  if (start == answer.npos || colon == answer.npos) return std::nullopt;
  const char* next = answer.data() + colon + 1;
  const char* const end = answer.data() + answer.size();
  std::array<int, 3> parts{};
  for (int& part : parts) {
    const auto [stop, error] = std::from_chars(next, end, part, 16);
    const auto digits = stop - next;
    if (error != std::errc{} || digits > 4) return std::nullopt;
    part = part * 255 / ((1 << (4 * digits)) - 1);
    next = std::min(stop + 1, end);
  }
  return luminance({parts[0], parts[1], parts[2]}) > middle_grey;
}

/// While an instance exists, keystrokes arrive immediately and without echo.
class RawTerminalMode {
 public:
  explicit RawTerminalMode(int terminal) : terminal_(terminal) {
    ready_ = tcgetattr(terminal, &before_) == 0;
    if (!ready_) return;
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    now.c_cc[VMIN] = 0;
    now.c_cc[VTIME] = 0;
    ready_ = tcsetattr(terminal, TCSANOW, &now) == 0;
  }
  ~RawTerminalMode() {
    if (ready_) tcsetattr(terminal_, TCSANOW, &before_);
  }
  RawTerminalMode(const RawTerminalMode&) = delete;
  RawTerminalMode& operator=(const RawTerminalMode&) = delete;
  bool ready() const { return ready_; }

 private:
  int terminal_;
  termios before_{};
  bool ready_ = false;
};

/// Reads the terminal's reply up to its device attributes. These are requested after the color and
/// every terminal reports them, so one without color support causes no wait.
std::string read_terminal_reply(int terminal) {
  constexpr std::string_view question = "\x1b]11;?\x1b\\\x1b[c";
  if (::write(terminal, question.data(), question.size()) != std::ssize(question)) return "";
  const bool far = !environment("SSH_CONNECTION").empty();
  const auto end = Clock::now() + (far ? patience_with_network : patience);
  std::string answer;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd ready{terminal, POLLIN, 0};
    if (left.count() <= 0 || poll(&ready, 1, static_cast<int>(left.count())) <= 0) return answer;
    char block[256];
    const ssize_t n = ::read(terminal, block, sizeof block);
    if (n <= 0) return answer;
    answer.append(block, to_size(n));
    const std::size_t kind = answer.find("\x1b[?");
    if (kind != answer.npos && answer.find('c', kind) != answer.npos) return answer;
  }
}

std::optional<bool> query_terminal() {
  const std::string_view term = environment("TERM");
  // The Linux console prints sequences that it does not know.
  if (term == "linux" || (term.starts_with("screen") && environment("TMUX").empty())) return {};
  const FileDescriptor terminal(open_descriptor("/dev/tty", O_RDWR | O_NOCTTY));
  if (terminal.number() < 0 || tcgetpgrp(terminal.number()) != getpgrp()) return {};
  pollfd typed{terminal.number(), POLLIN, 0};
  if (poll(&typed, 1, 0) != 0) return {};  // there is type-ahead input, which must not be consumed
  const RawTerminalMode raw_mode(terminal.number());
  return raw_mode.ready() ? light_by_answer(read_terminal_reply(terminal.number())) : std::nullopt;
}

bool detect_light_background() {
  const std::string_view said = environment("ATTN_DEMO_BACKGROUND");
  if (!said.empty() && said != "light" && said != "dark") {
    throw UsageError("ATTN_DEMO_BACKGROUND={}: expected light or dark", excerpt(said));
  }
  if (!said.empty()) return said == "light";
  if (const auto light = light_by_palette(environment("COLORFGBG"))) return *light;
  // Behind a pipe, a pager may be reading keystrokes at the same time.
  return stdout_is_terminal() && query_terminal().value_or(false);
}

}  // namespace

bool background_is_light() {
  static const bool light = detect_light_background();
  return light;
}

}  // namespace attn
