// A timer for the parts of a task.
#pragma once

#include <chrono>

namespace attn {

/// Adds the milliseconds until the end of the scope to a field of `times`. If `times` is null,
/// nothing is timed.
class ScopedTimer {
 public:
  template <typename Times>
  ScopedTimer(Times* times, double Times::*field)
      : sum_(times == nullptr ? nullptr : &(times->*field)) {}
  ~ScopedTimer() {
    if (sum_ == nullptr) return;
    const std::chrono::duration<double, std::milli> took = Clock::now() - start_;
    *sum_ += took.count();
  }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double* sum_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace attn
