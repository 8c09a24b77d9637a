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

class ThreadPerConnection : public httplib::TaskQueue {
 public:
  /// Up to `connections` are served; a few more are told that they are too many, and further ones
  /// wait.
  explicit ThreadPerConnection(std::size_t connections) : max_connections_(connections) {}

  /// Whether this thread's connection is one too many.
  static bool over_limit();

  /// A body that nobody reads lies in this thread's connection: what follows is no request.
  static void mark_unread_body();
  static bool has_unread_body();

  /// httplib 0.11 takes no answer; later ones ask whether there was room.
  using Enqueued =
      decltype(std::declval<httplib::TaskQueue&>().enqueue(std::declval<std::function<void()>>()));
  Enqueued enqueue(std::function<void()> task) override;
  void shutdown() override;

 private:
  void work();
  bool take(std::function<void()>& task);

  std::size_t max_connections_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0, running_ = 0;
  bool ending_ = false;
};

}  // namespace attn
