#include "training_progress.h"

#include <unistd.h>

#include <cerrno>
#include <limits>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "console.h"

namespace attn {
namespace {

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

std::vector<StatusPart> parts_of(const ProgressFigures& figures) {
  std::vector<StatusPart> parts;
  parts.push_back({fmt::format("epoch {}", figures.epoch), 3});
  parts.push_back({figures.updates ? fmt::format("update {}/{}", figures.update, *figures.updates)
                                   : fmt::format("update {}", figures.update),
                   0});
  parts.push_back({fmt::format("loss {:.2f}", figures.loss), 1});
  parts.push_back({fmt::format("{} tokens/s", with_commas(figures.tokens_per_second)), 4});
  parts.push_back({fmt::format("lr {:.1e}", figures.learning_rate), 5});
  const double left = figures.seconds_left.value_or(-1);
  if (left >= 0 && left < 1e8) parts.push_back({clock_text(left) + " left", 2});
  return parts;
}

}  // namespace

void TrainingProgress::update(const ProgressFigures& figures) {
  if (stderr_redraws()) {
    if (!line_) line_.emplace("training");
    line_->show(parts_of(figures));
  } else if (figures.log) {
    write_stderr(fitted(parts_of(figures), std::numeric_limits<int>::max()) + "\n");
  }
}

void TrainingProgress::say(std::string_view text) {
  write_beside_progress(true, [text] { write_stderr(std::string(text) + "\n"); });
}

}  // namespace attn
