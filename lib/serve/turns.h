// Who computes when: a few requests at once, a few more wait, and each can be told to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace attn {

/// Why a request's work was stopped.
enum class StopReason {
  none,
  superseded,  ///< the same page asks something newer
  gone,        ///< nobody reads the answer
  late,        ///< it took too long
  ending,      ///< the server ends
};

/// A request that waits or computes.
struct Job {
  std::string page;               ///< whose newer request takes its place; empty: none does
  std::atomic<bool> stop{false};  ///< what the search looks at
  std::atomic<StopReason> reason{StopReason::none};
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  std::condition_variable turn;

  /// The first reason counts.
  void end(StopReason why) {
    StopReason before = StopReason::none;
    reason.compare_exchange_strong(before, why);
    stop = true;
  }
};

class Turns {
 public:
  Turns(std::size_t at_once, std::size_t most_waiting)
      : at_once_(at_once), most_waiting_(most_waiting) {}

  /// Waits for the job's turn; stops older ones of the same page. False where too many wait
  /// already: then it has none. A job that was stopped while it waited has its turn, too.
  bool enter(Job& job);
  void leave(Job& job);

  /// Stops every job that `which` gives a reason for.
  void stop_where(const std::function<StopReason(const Job&)>& which);
  bool idle() const;

 private:
  void stop(Job& job, StopReason why);

  std::size_t at_once_, most_waiting_;
  mutable std::mutex mutex_;
  std::vector<Job*> running_;
  std::deque<Job*> waiting_;
};

/// A turn for as long as it lives.
class Turn {
 public:
  Turn(Turns& turns, Job& job) : turns_(turns), job_(job), has_(turns.enter(job)) {}
  ~Turn() {
    if (has_) turns_.leave(job_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return has_; }

 private:
  Turns& turns_;
  Job& job_;
  bool has_;
};

}  // namespace attn
