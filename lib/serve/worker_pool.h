// The scheduling of requests: a few are processed at once, a few more wait, and each can be
// stopped.
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

/// The reason for stopping a request's work.
enum class StopReason {
  none,
  superseded,     ///< the same page sent a newer request
  disconnected,   ///< the client is gone
  timed_out,      ///< it took too long
  shutting_down,  ///< the server is shutting down
};

/// A request that is waiting or being processed.
struct Job {
  std::string
      page_id;  ///< a newer request of the same page replaces this one; empty: never replaced
  /// The page's sequence number of the request; requests arrive on several connections and may
  /// overtake each other. Among equal numbers, the last to arrive is the newest.
  std::int64_t sequence = 0;
  bool batched = false;           ///< it waits for a batch that many requests share
  std::atomic<bool> stop{false};  ///< polled by the search
  std::atomic<StopReason> reason{StopReason::none};
  /// The time of arrival, or of the start once it is being processed.
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  bool started = false, done = false;
  const std::function<void()>* work = nullptr;
  std::condition_variable changed;

  /// Stops the job; only the first reason counts.
  void end(StopReason why) {
    StopReason before = StopReason::none;
    reason.compare_exchange_strong(before, why);
    stop = true;
  }
};

/// A few computing threads, so that per-thread memory exists only a few times and not once per
/// connection.
class WorkerPool {
 public:
  /// Number of threads for jobs computed alone, and of jobs that share batches.
  struct ThreadCounts {
    std::size_t unbatched = 0;
    std::size_t batched = 0;
  };
  WorkerPool(const ThreadCounts& thread_counts, std::size_t max_waiting);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Runs `work` and returns when it is done; `work` must not throw and must poll the job's `stop`.
  /// Stops older jobs of the same page, or this one if a newer one has overtaken it. A job that is
  /// stopped while waiting runs immediately. Returns false, without running anything, if too many
  /// jobs are waiting.
  bool run(Job& job, const std::function<void()>& work);

  /// Stops every job for which `which` returns a reason.
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
  std::array<std::condition_variable, 2> arrived_;  ///< for unbatched and batched jobs
  std::vector<Job*> running_;
  std::deque<Job*> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace attn
