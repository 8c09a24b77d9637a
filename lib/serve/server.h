// The live page's server: HTTP on one port, for a browser on the same machine or whoever has the
// token.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "serve/access.h"
#include "serve/monitoring.h"
#include "serve/server_handler.h"

namespace attn {

struct ServeLimits {
  std::size_t max_connections = 256;
  std::size_t waiting = 256;                          ///< requests that wait for their turn
  std::size_t worker_threads = 2;                     ///< requests that compute records and pages
  std::size_t batched_searches = 64;                  ///< translations whose searches share steps
  std::chrono::milliseconds request_timeout{10'000};  ///< until a request has come in whole
  std::chrono::milliseconds work_timeout{
      30'000};  ///< until its turn comes, and from then to its answer
  std::chrono::milliseconds shutdown_timeout{1'200};  ///< what runs may go on for so long
  /// From the signal until no request is taken any more: /ready says no, all else is as before, so
  /// that a balancer finds out before anybody is turned away.
  std::chrono::milliseconds drain{0};
};

class LiveServer {
 public:
  /// `models` outlives it, and so does `log`, which may be null. Loads the first model and makes
  /// the page; Error where that fails.
  LiveServer(AccessRules rules, const ServeLimits& limits, ServedModels& models,
             const std::string& version, RequestLog* log = nullptr);
  ~LiveServer();

  /// Takes the port (0: any); ListenError (serve/port.h) where it cannot.
  void bind();
  int port() const;

  /// Answers until `signal` is not 0, and while it drains; then what runs is finished, and all is
  /// closed, in less than two seconds. SystemError where the system takes the socket away.
  void run(const std::atomic<int>& signal);

 private:
  class Http;
  std::unique_ptr<Http> http_;
};

}  // namespace attn
