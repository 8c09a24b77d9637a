// The server's open connections, as the system knows them. httplib waits for each piece of a
// request with a limit of its own, so that a client who sends a byte now and then would be waited
// for without end, and headers without number kept: here whole requests have limits.
#pragma once

#include <dirent.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "serve/worker_pool.h"

namespace attn {

class ConnectionMonitor {
 public:
  using Peer = std::pair<std::string, int>;  ///< address and port of the other end

  /// `max_bytes`: of one request, line, headers and body together.
  ConnectionMonitor(std::chrono::milliseconds request_timeout, std::uint64_t max_bytes)
      : request_timeout_(request_timeout), max_bytes_(max_bytes) {}

  /// The port whose connections these are. From here on sweep() opens nothing: it works where no
  /// descriptor is left, too.
  void listen_on(int port);

  /// The whole request of a peer is there: from now on it is waited for the answer. `job` may be
  /// null; it is stopped where the peer goes away.
  void begin(const Peer& peer, Job* job);
  /// The answer is made. `last`: the connection is closed once it is sent.
  void end(const Peer& peer, bool last);

  /// Closes the connections of whoever has kept a request, or the reading of an answer, unfinished
  /// for too long (64 KiB of an answer are progress), or sends a request without end; `all`: and of
  /// whoever asks nothing now.
  void sweep(bool all);

 private:
  struct State {
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    std::optional<std::uint64_t> before;  ///< bytes that had come in ahead of this request
    std::uint64_t taken = 0;              ///< bytes that the other end had at `since`
    Job* job = nullptr;
    bool busy = false;
    bool last = false;
    bool seen = true;
  };
  void check_connection(int socket, bool all);

  std::chrono::milliseconds request_timeout_;
  std::uint64_t max_bytes_;
  std::unique_ptr<DIR, int (*)(DIR*)> descriptors_{nullptr, closedir};  ///< of this process
  int port_ = 0;
  std::mutex mutex_;
  std::map<Peer, State> states_;
};

}  // namespace attn
