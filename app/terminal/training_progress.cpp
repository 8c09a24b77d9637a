#include "terminal/training_progress.h"

#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/at.h"
#include "terminal/console.h"

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

}  // namespace

void TrainingProgress::update(const UpdateMetrics& metrics) {
  if (stderr_redraws()) {
    if (!line_) line_.emplace("training");
    line_->show(update_parts(metrics, names_));
  } else if (metrics.log) {
    write_stderr(update_line(metrics, names_) + "\n");
  }
}

void TrainingProgress::say(std::string_view text) {
  const std::string line = error_line(text);
  write_beside_progress(true, [&line] { write_stderr(line); });
}

}  // namespace attn
