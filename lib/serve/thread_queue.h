// A thread a connection, made when it is needed: httplib serves a connection on one thread until it
// is closed.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace attn {

class ThreadQueue : public httplib::TaskQueue {
 public:
  /// Up to `connections` are served; a few more are told that they are too many, and further ones
  /// wait.
  explicit ThreadQueue(std::size_t connections) : most_(connections) {}

  /// Whether this thread's connection is one too many.
  static bool surplus();

  /// A body that nobody reads lies in this thread's connection: what follows is no request.
  static void leave_unread();
  static bool has_unread();

  /// httplib 0.11 takes no answer; later ones ask whether there was room.
  using Enqueued =
      decltype(std::declval<httplib::TaskQueue&>().enqueue(std::declval<std::function<void()>>()));
  Enqueued enqueue(std::function<void()> task) override;
  void shutdown() override;

 private:
  void work();
  bool take(std::function<void()>& task);

  std::size_t most_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0, running_ = 0;
  bool ending_ = false;
};

}  // namespace attn
