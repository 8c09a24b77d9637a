// One thread per connection, created on demand: httplib keeps a connection on one thread until it
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
  /// Serves up to `connections` connections; refuses a few more as too many, and lets further ones
  /// wait.
  explicit ThreadPerConnection(std::size_t connections) : max_connections_(connections) {}

  /// True if this thread's connection exceeds the limit.
  static bool over_limit();

  /// Marks this thread's connection as having an unread body, so that the bytes that follow are not
  /// parsed as a request.
  static void mark_unread_body();
  static bool has_unread_body();

  /// enqueue() returns nothing in httplib 0.11; later versions return whether there was room.
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
