#include "serve/worker_pool.h"

#include <algorithm>

namespace attn {

WorkerPool::WorkerPool(const ThreadCounts& thread_counts, std::size_t max_waiting)
    : max_waiting_(max_waiting) {
  for (std::size_t i = 0; i < thread_counts.unbatched + thread_counts.batched; ++i) {
    threads_.emplace_back([this, batched = i >= thread_counts.unbatched] { serve(batched); });
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  for (std::condition_variable& arrived : arrived_) arrived.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::serve(bool batched) {
  std::unique_lock lock(mutex_);
  while (true) {
    auto next = waiting_.end();
    arrived_[batched ? 1 : 0].wait(lock, [&] {
      next = std::ranges::find(waiting_, batched, &Job::batched);
      return ending_ || next != waiting_.end();
    });
    if (next == waiting_.end()) return;
    Job& job = **next;
    waiting_.erase(next);
    running_.push_back(&job);
    job.started = true;
    job.since = std::chrono::steady_clock::now();
    lock.unlock();
    (*job.work)();
    lock.lock();
    running_.erase(std::find(running_.begin(), running_.end(), &job));
    job.done = true;
    job.changed.notify_one();
  }
}

bool WorkerPool::run(Job& job, const std::function<void()>& work) {
  std::unique_lock lock(mutex_);
  if (!job.page_id.empty()) {
    for (Job* other : running_) supersede(*other, job);
    for (Job* other : waiting_) supersede(*other, job);
  }
  if (waiting_.size() >= max_waiting_) return false;
  job.work = &work;
  waiting_.push_back(&job);
  arrived_[job.batched ? 1 : 0].notify_one();
  job.changed.wait(lock, [&] { return job.done || (job.stop && !job.started); });
  if (job.done) return true;
  waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &job));
  lock.unlock();
  work();
  return true;
}

/// Stops the older of two jobs of the same page.
void WorkerPool::supersede(Job& one, Job& coming) {
  if (one.page_id == coming.page_id) {
    stop(one.sequence > coming.sequence ? coming : one, StopReason::superseded);
  }
}

void WorkerPool::stop(Job& job, StopReason why) {
  job.end(why);
  job.changed.notify_one();
}

void WorkerPool::stop_if(const std::function<StopReason(const Job&)>& which) {
  const std::lock_guard lock(mutex_);
  const auto look = [&](Job& job) {
    const StopReason why = which(job);
    if (why != StopReason::none) stop(job, why);
  };
  for (Job* job : running_) look(*job);
  for (Job* job : waiting_) look(*job);
}

WorkerPool::Counts WorkerPool::counts() const {
  const std::lock_guard lock(mutex_);
  return {waiting_.size(), running_.size()};
}

}  // namespace attn
