#include "terminal/progress.h"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <tuple>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "terminal/console.h"

namespace attn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kErase = "\r\x1b[K";
constexpr auto kPatience = std::chrono::seconds(1);
constexpr auto kBetween = std::chrono::milliseconds(200);

std::atomic<bool> line_drawn{false};

void put(std::string_view text) {
  std::ignore = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

/// The state of one progress display.
struct ProgressTask {
  std::string what;
  std::string unit;
  Clock::time_point start = Clock::now();
  std::size_t done = 0;
  std::optional<double> fraction = std::nullopt;  ///< 0 to 1
  std::vector<StatusPart> instead = {};           ///< shown instead of the fields above
};

namespace {

std::vector<StatusPart> parts_of(const ProgressTask& wait, Clock::time_point now) {
  if (!wait.instead.empty()) return wait.instead;
  const double seconds = std::chrono::duration<double>(now - wait.start).count();
  std::vector<StatusPart> line = {{wait.what, 0}};
  if (wait.done > 0) {
    line.push_back({fmt::format("{} {}", wait.done, wait.unit), 2});
    const double rate = static_cast<double>(wait.done) / seconds;
    line.push_back({fmt::format("{:.{}f} a second", rate, rate < 10 ? 1 : 0), 5});
  }
  line.push_back({format_duration(seconds), 4});
  if (wait.fraction && *wait.fraction > 0.0) {
    line.push_back({fmt::format("{:.0f}%", 100.0 * *wait.fraction), 1});
    const double left = seconds * (1.0 - *wait.fraction) / *wait.fraction;
    line.push_back({format_duration(left) + " left", 3});
  }
  return line;
}

/// The status line and the thread that draws it, because the task may report nothing for a long
/// time.
class ProgressLine {
 public:
  static ProgressLine& instance() {
    static ProgressLine line;
    return line;
  }

  ~ProgressLine() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  void begin(ProgressTask* wait) {
    const std::lock_guard lock(mutex_);
    waits_.push_back(wait);
    wake_.notify_all();
    if (thread_.joinable()) return;
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {  // without a thread, no line is shown
    }
  }

  void end(ProgressTask* wait) {
    const std::lock_guard lock(mutex_);
    waits_.erase(std::remove(waits_.begin(), waits_.end(), wait), waits_.end());
    erase_progress();
  }

  void update(ProgressTask& wait, std::size_t done, std::optional<double> fraction) {
    const std::lock_guard lock(mutex_);
    wait.done = done;
    wait.fraction = fraction;
  }

  void show(ProgressTask& wait, std::vector<StatusPart> parts) {
    const std::lock_guard lock(mutex_);
    wait.instead = std::move(parts);
    draw();
  }

  void beside(bool ends_line, const std::function<void()>& write) {
    const std::lock_guard lock(mutex_);
    erase_progress();
    write();
    at_start_ = ends_line;
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!ending_) {
      wake_.wait(lock, [this] { return ending_ || !waits_.empty(); });
      wake_.wait_for(lock, kBetween, [this] { return ending_; });
      if (!ending_) draw();
    }
  }

  void draw() {
    if (waits_.empty() || !at_start_) return;
    const auto now = Clock::now();
    const bool due = !waits_.back()->instead.empty() || now - waits_.back()->start >= kPatience;
    if (!due || now - last_drawn_ < kBetween * 9 / 10) return;
    last_drawn_ = now;
    const pid_t group = tcgetpgrp(STDERR_FILENO);
    if (group > 0 && group != getpgrp()) return;  // in the background
    // Leave one column free: a character in the last one makes some terminals start a new line.
    const int columns = std::max(window_width(STDERR_FILENO).value_or(80) - 1, 1);
    line_drawn = true;
    put("\r" + fit_to_width(parts_of(*waits_.back(), now), columns) + "\x1b[K");
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<ProgressTask*> waits_;
  bool ending_ = false;
  Clock::time_point last_drawn_{};
  bool at_start_ = true;  ///< the cursor is at the start of a line
  std::thread thread_;
};

}  // namespace

bool stderr_redraws() {
  const char* term = std::getenv("TERM");
  return stderr_is_terminal() && term != nullptr && *term != '\0' &&
         std::string_view(term) != "dumb";
}

TerminalProgress::TerminalProgress(const std::string& what, const std::string& unit)
    : wait_(std::make_unique<ProgressTask>(ProgressTask{.what = printable(what), .unit = unit})) {
  ProgressLine::instance().begin(wait_.get());
}

TerminalProgress::~TerminalProgress() {
  ProgressLine::instance().end(wait_.get());
}

void TerminalProgress::update(std::size_t done, std::optional<double> fraction) {
  ProgressLine::instance().update(*wait_, done, fraction);
}

void TerminalProgress::show(std::vector<StatusPart> parts) {
  ProgressLine::instance().show(*wait_, std::move(parts));
}

std::unique_ptr<ProgressView> terminal_progress(const std::string& what, const std::string& unit) {
  if (!stderr_redraws()) return nullptr;
  return std::make_unique<TerminalProgress>(what, unit);
}

void write_beside_progress(bool ends_line, const std::function<void()>& write) {
  if (line_drawn || stderr_redraws()) {
    ProgressLine::instance().beside(ends_line, write);
  } else {
    write();
  }
}

void erase_progress() noexcept {
  if (line_drawn.exchange(false)) put(kErase);
}

namespace {

/// Writes as much as stderr accepts. A closed terminal (EIO), a closed pipe (EPIPE) or a full disk
/// is no reason to stop.
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
