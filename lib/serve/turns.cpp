#include "serve/turns.h"

#include <algorithm>

namespace attn {

Turns::Turns(const AtOnce& at_once, std::size_t most_waiting) : most_waiting_(most_waiting) {
  for (std::size_t i = 0; i < at_once.alone + at_once.sharing; ++i) {
    threads_.emplace_back([this, sharing = i >= at_once.alone] { serve(sharing); });
  }
}

Turns::~Turns() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  for (std::condition_variable& arrived : arrived_) arrived.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Turns::serve(bool sharing) {
  std::unique_lock lock(mutex_);
  while (true) {
    auto next = waiting_.end();
    arrived_[sharing ? 1 : 0].wait(lock, [&] {
      next = std::ranges::find(waiting_, sharing, &Job::shares);
      return ending_ || next != waiting_.end();
    });
    if (next == waiting_.end()) return;
    Job& job = **next;
    waiting_.erase(next);
    running_.push_back(&job);
    job.begun = true;
    job.since = std::chrono::steady_clock::now();
    lock.unlock();
    (*job.work)();
    lock.lock();
    running_.erase(std::find(running_.begin(), running_.end(), &job));
    job.done = true;
    job.changed.notify_one();
  }
}

bool Turns::run(Job& job, const std::function<void()>& work) {
  std::unique_lock lock(mutex_);
  if (!job.page.empty()) {
    for (Job* other : running_) supersede(*other, job);
    for (Job* other : waiting_) supersede(*other, job);
  }
  if (waiting_.size() >= most_waiting_) return false;
  job.work = &work;
  waiting_.push_back(&job);
  arrived_[job.shares ? 1 : 0].notify_one();
  job.changed.wait(lock, [&] { return job.done || (job.stop && !job.begun); });
  if (job.done) return true;
  waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &job));
  lock.unlock();
  work();
  return true;
}

/// Of two of a page the older one is stopped.
void Turns::supersede(Job& one, Job& coming) {
  if (one.page == coming.page) {
    stop(one.number > coming.number ? coming : one, StopReason::superseded);
  }
}

void Turns::stop(Job& job, StopReason why) {
  job.end(why);
  job.changed.notify_one();
}

void Turns::stop_where(const std::function<StopReason(const Job&)>& which) {
  const std::lock_guard lock(mutex_);
  const auto look = [&](Job& job) {
    const StopReason why = which(job);
    if (why != StopReason::none) stop(job, why);
  };
  for (Job* job : running_) look(*job);
  for (Job* job : waiting_) look(*job);
}

Turns::Counts Turns::counts() const {
  const std::lock_guard lock(mutex_);
  return {waiting_.size(), running_.size()};
}

}  // namespace attn
