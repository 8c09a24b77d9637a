#include "console.h"

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
#include "base/excerpt.h"
#include "base/utf8.h"

namespace attn {
namespace {

constexpr std::size_t kMostKept = (std::size_t{64} << 10) + 4;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

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
  std::fputs(fmt::format("note: {}\n", shortened(printable(text))).c_str(), stderr);
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

std::string clock_text(double seconds) {
  const auto s = static_cast<long>(seconds);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

TerminalStyle terminal_style() {
  TerminalStyle style;
  if (!stdout_is_terminal()) return style;
  style.width = window_width(STDOUT_FILENO).value_or(style.width);
  const std::string_view term = environment("TERM");
  if (!environment("NO_COLOR").empty() || term.empty() || term == "dumb") return style;
  const std::string_view depth = environment("COLORTERM");
  style.color =
      depth == "truecolor" || depth == "24bit" ? ColorMode::true_color : ColorMode::shades_256;
  return style;
}

bool LineReader::fill() {
  char block[16384];
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, block, sizeof block);
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
      throw SystemError("stdin: cannot read: {}; check what is piped in", std::strerror(errno));
    }
  }
}

bool LineReader::take_line(Line& line) {
  const std::size_t newline = buffer_.find('\n', start_);
  if (newline == std::string::npos) {
    // A line that never ends must not fill the memory: keep its start, count the rest.
    if (buffer_.size() - start_ > kMostKept) {
      dropped_ += buffer_.size() - start_ - kMostKept;
      buffer_.resize(start_ + kMostKept);
    }
    if (!end_ || start_ == buffer_.size()) return false;
  }
  const std::size_t stop = std::min(newline, buffer_.size());
  std::size_t kept = stop - start_;
  line.dropped = dropped_;
  if (kept > 0 && buffer_[start_ + kept - 1] == '\r') --kept;
  if (kept > kMostKept) {
    line.dropped += kept - kMostKept;
    kept = kMostKept;
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
    pollfd descriptor{STDIN_FILENO, POLLIN, 0};
    if (poll(&descriptor, 1, 0) <= 0) return false;
    fill();
    if (buffer_.size() - start_ > kMostKept) return true;
  }
  return true;
}

std::optional<double> LineReader::fraction_read() const {
  struct stat info {};
  if (fstat(STDIN_FILENO, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size <= 0) {
    return std::nullopt;
  }
  const auto used = static_cast<double>(total_read_ - (buffer_.size() - start_));
  return std::min(1.0, used / static_cast<double>(info.st_size));
}

Progress::Progress(std::string unit, BesideStdout beside)
    : unit_(std::move(unit)),
      on_(stderr_is_terminal() && (beside == BesideStdout::yes || !stdout_is_terminal())),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void Progress::update(std::size_t done, std::optional<double> fraction) {
  if (!on_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string line = fmt::format("{} {} · {:.0f} a second · {}", done, unit_,
                                 static_cast<double>(done) / seconds, clock_text(seconds));
  if (fraction && *fraction > 0.0) {
    line += fmt::format(" · {:.0f}% · {} left", 100.0 * *fraction,
                        clock_text(seconds * (1.0 - *fraction) / *fraction));
  }
  std::fputs(fmt::format("\r{}\x1b[K", line).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace attn
