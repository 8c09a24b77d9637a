#include "serve/thread_per_connection.h"

#include <system_error>

namespace attn {
namespace {

constexpr std::size_t kSpareThreads = 16;
thread_local bool is_over_limit = false;
thread_local bool is_unread = false;

}  // namespace

bool ThreadPerConnection::over_limit() {
  return is_over_limit;
}

void ThreadPerConnection::mark_unread_body() {
  is_unread = true;
}

bool ThreadPerConnection::has_unread_body() {
  return is_unread;
}

ThreadPerConnection::Enqueued ThreadPerConnection::enqueue(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    if (tasks_.size() > idle_ && threads_.size() < max_connections_ + kSpareThreads) {
      try {
        threads_.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        // Continue with the threads we have.
      }
    }
  }
  arrived_.notify_one();
  return static_cast<Enqueued>(true);
}

bool ThreadPerConnection::take(std::function<void()>& task) {
  std::unique_lock lock(mutex_);
  ++idle_;
  arrived_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
  --idle_;
  if (tasks_.empty()) return false;
  task = std::move(tasks_.front());
  tasks_.pop_front();
  is_over_limit = ++running_ > max_connections_;
  is_unread = false;
  return true;
}

void ThreadPerConnection::work() {
  std::function<void()> task;
  while (take(task)) {
    task();
    task = nullptr;
    const std::lock_guard lock(mutex_);
    --running_;
  }
}

void ThreadPerConnection::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace attn
