#include "serve/turns.h"

#include <algorithm>

namespace attn {

bool Turns::enter(Job& job) {
  std::unique_lock lock(mutex_);
  if (!job.page.empty()) {
    for (Job* other : running_) {
      if (other->page == job.page) stop(*other, StopReason::superseded);
    }
    for (Job* other : waiting_) {
      if (other->page == job.page) stop(*other, StopReason::superseded);
    }
  }
  if (running_.size() >= at_once_) {
    if (waiting_.size() >= most_waiting_) return false;
    waiting_.push_back(&job);
    job.turn.wait(
        lock, [&] { return job.stop || (waiting_.front() == &job && running_.size() < at_once_); });
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &job));
  }
  running_.push_back(&job);
  if (!waiting_.empty() && running_.size() < at_once_) waiting_.front()->turn.notify_one();
  return true;
}

void Turns::leave(Job& job) {
  const std::lock_guard lock(mutex_);
  running_.erase(std::find(running_.begin(), running_.end(), &job));
  if (!waiting_.empty()) waiting_.front()->turn.notify_one();
}

void Turns::stop(Job& job, StopReason why) {
  job.end(why);
  job.turn.notify_one();
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

bool Turns::idle() const {
  const std::lock_guard lock(mutex_);
  return running_.empty() && waiting_.empty();
}

}  // namespace attn
