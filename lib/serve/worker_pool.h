// Who computes when: a few requests at once, a few more wait, and each can be told to stop.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace attn {

/// Why a request's work was stopped.
enum class StopReason {
  none,
  superseded,     ///< the same page asks something newer
  disconnected,   ///< nobody reads the answer
  timed_out,      ///< it took too long
  shutting_down,  ///< the server ends
};

/// A request that waits or computes.
struct Job {
  std::string page_id;  ///< whose newer request takes its place; empty: none does
  /// The page's own number of the request: they come on several connections, which may overtake
  /// one another. Of equal ones the last that comes is the newest.
  std::int64_t sequence = 0;
  bool batched = false;           ///< it waits for what many compute together
  std::atomic<bool> stop{false};  ///< what the search looks at
  std::atomic<StopReason> reason{StopReason::none};
  /// When it came, and from its turn on when that was.
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  bool started = false, done = false;
  const std::function<void()>* work = nullptr;
  std::condition_variable changed;

  /// The first reason counts.
  void end(StopReason why) {
    StopReason before = StopReason::none;
    reason.compare_exchange_strong(before, why);
    stop = true;
  }
};

/// A few threads that compute, so that what a thread keeps for its sums is there a few times and
/// not once a connection.
class WorkerPool {
 public:
  /// Threads that compute by themselves, and for jobs that share.
  struct ThreadCounts {
    std::size_t unbatched = 0;
    std::size_t batched = 0;
  };
  WorkerPool(const ThreadCounts& thread_counts, std::size_t max_waiting);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Does the work, which throws nothing and looks at the job's `stop`, and returns when it is
  /// done; stops older jobs of the same page, or this one where a newer one has overtaken it. A job
  /// that is stopped before its turn does it here, at once. False where too many wait already: then
  /// nothing is done.
  bool run(Job& job, const std::function<void()>& work);

  /// Stops every job that `which` gives a reason for.
  void stop_if(const std::function<StopReason(const Job&)>& which);
  struct Counts {
    std::size_t waiting = 0;
    std::size_t computing = 0;
  };
  Counts counts() const;
  bool idle() const { return counts().waiting + counts().computing == 0; }

 private:
  void serve(bool batched);
  void supersede(Job& one, Job& coming);
  void stop(Job& job, StopReason why);

  std::size_t max_waiting_;
  mutable std::mutex mutex_;
  std::array<std::condition_variable, 2> arrived_;  ///< one that does not share, one that does
  std::vector<Job*> running_;
  std::deque<Job*> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace attn
