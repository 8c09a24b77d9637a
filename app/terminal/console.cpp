#include "terminal/console.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/at.h"
#include "base/error.h"
#include "config/attention_site.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"
#include "terminal/background.h"
#include "terminal/progress.h"
#include "view/terminal/text_line.h"

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

Output::~Output() = default;  // what was not flushed by then belongs to a failed run

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
  // A full stderr is no reason to stop.
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
  if (style.color != ColorMode::none && background_is_light()) style.color = for_light_background(style.color);
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
    // A line that never ends must not fill the memory: keep its start, count the rest.
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

}  // namespace attn
