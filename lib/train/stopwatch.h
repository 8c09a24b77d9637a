// Time that is measured with breaks.
#pragma once

#include <chrono>
#include <optional>

namespace attn {

/// Stands still at first.
class Stopwatch {
 public:
  void start() { running_since_ = Clock::now(); }
  void stop() {
    seconds_ = seconds();
    running_since_.reset();
  }
  double seconds() const {
    if (!running_since_) return seconds_;
    return seconds_ + std::chrono::duration<double>(Clock::now() - *running_since_).count();
  }
  /// Begins at 0; goes on where it was going.
  void reset() {
    seconds_ = 0;
    if (running_since_) start();
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<Clock::time_point> running_since_;
  double seconds_ = 0;
};

}  // namespace attn
