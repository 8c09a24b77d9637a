#include "training_progress.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "base/utf8.h"
#include "console.h"

namespace attn {
namespace {

constexpr const char* kEraseLine = "\r\x1b[K";

/// Writes to stderr what it takes; a terminal that was closed (EIO), a reader that left (EPIPE) and
/// a full disk are no reason to stop.
void write_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(to_size(written));
  }
}

/// "4,812"
std::string with_commas(double number) {
  std::string digits = fmt::format("{:.0f}", number);
  if (!(number >= 0 && number < 1e15)) return digits;
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

/// The line in at most `columns`: where it is too long, what matters least goes first.
std::string line_of(const ProgressFigures& figures, int columns) {
  struct Part {
    std::string text;
    int rank;  ///< 0 stays longest
  };
  std::vector<Part> parts;
  parts.push_back({fmt::format("epoch {}", figures.epoch), 3});
  parts.push_back({figures.updates ? fmt::format("update {}/{}", figures.update, *figures.updates)
                                   : fmt::format("update {}", figures.update),
                   0});
  parts.push_back({fmt::format("loss {:.2f}", figures.loss), 1});
  parts.push_back({fmt::format("{} tokens/s", with_commas(figures.tokens_per_second)), 4});
  parts.push_back({fmt::format("lr {:.1e}", figures.learning_rate), 5});
  const double left = figures.seconds_left.value_or(-1);
  if (left >= 0 && left < 1e8) parts.push_back({clock_text(left) + " left", 2});
  std::string line;
  for (int most = 5; most >= 0; --most) {
    line.clear();
    for (const Part& part : parts) {
      if (part.rank > most) continue;
      if (!line.empty()) line += " · ";
      line += part.text;
    }
    if (display_width(line) <= columns) return line;
  }
  return fit_width(line, columns);
}

bool terminal_redraws() {
  const char* term = std::getenv("TERM");
  return stderr_is_terminal() && term != nullptr && *term != '\0' &&
         std::string_view(term) != "dumb";
}

}  // namespace

TrainingProgress::TrainingProgress() : redraws_(terminal_redraws()) {}

TrainingProgress::~TrainingProgress() {
  if (drawn_at_) write_stderr(kEraseLine);
}

void TrainingProgress::draw() {
  // One column stays free: a character in the last one makes some terminals begin a new line.
  const int columns = window_width(STDERR_FILENO).value_or(80) - 1;
  write_stderr("\r" + line_of(*shown_, std::max(columns, 1)) + "\x1b[K");
  drawn_at_ = std::chrono::steady_clock::now();
}

void TrainingProgress::update(const ProgressFigures& figures) {
  if (!redraws_) {
    if (figures.log) write_stderr(line_of(figures, std::numeric_limits<int>::max()) + "\n");
    return;
  }
  shown_ = figures;
  const auto now = std::chrono::steady_clock::now();
  if (!drawn_at_ || now - *drawn_at_ >= std::chrono::milliseconds(200)) draw();
}

void TrainingProgress::say(std::string_view text) {
  write_stderr(fmt::format("{}{}\n", drawn_at_ ? kEraseLine : "", text));
  if (redraws_ && shown_) draw();
}

}  // namespace attn
