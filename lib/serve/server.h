// The live page's server: HTTP on one port, for a browser on the same machine or clients with the
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
  std::size_t waiting = 256;                          ///< requests in the queue
  std::size_t worker_threads = 2;                     ///< for computing records and pages
  std::size_t batched_searches = 64;                  ///< translations whose searches share steps
  std::chrono::milliseconds request_timeout{10'000};  ///< until a request has arrived in full
  std::chrono::milliseconds work_timeout{
      30'000};  ///< in the queue, and then again until its answer is ready
  std::chrono::milliseconds shutdown_timeout{1'200};  ///< how long running requests may continue
  /// The time between the signal and the refusal of new requests. Meanwhile only /ready changes to
  /// "no", so that load balancers notice before any request is refused.
  std::chrono::milliseconds drain{0};
};

class LiveServer {
 public:
  /// `models` and `log`, which may be null, must outlive the server. Loads the first model and
  /// builds the page; throws Error if that fails.
  LiveServer(AccessRules rules, const ServeLimits& limits, ServedModels& models,
             const std::string& version, RequestLog* log = nullptr);
  ~LiveServer();

  /// Binds the port (0: any); throws ListenError (serve/port.h) if that fails.
  void bind();
  int port() const;

  /// Answers requests until `signal` is not 0, and while draining. Then finishes the running
  /// requests and closes all connections in less than two seconds. Throws SystemError if the system
  /// closes the socket.
  void run(const std::atomic<int>& signal);

 private:
  class Http;
  std::unique_ptr<Http> http_;
};

}  // namespace attn
