// The server's open connections, as the system reports them. httplib limits only the wait for each
// piece of a request, so a client that sends a byte now and then would never time out, and headers
// could accumulate without end. Here limits apply to whole requests.
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
  using Peer = std::pair<std::string, int>;  ///< address and port of the peer

  /// `max_bytes`: maximum size of a request, including line, headers and body.
  ConnectionMonitor(std::chrono::milliseconds request_timeout, std::uint64_t max_bytes)
      : request_timeout_(request_timeout), max_bytes_(max_bytes) {}

  /// Sets the port whose connections are monitored. After this, sweep() opens no files and so works
  /// even when no descriptor is left.
  void listen_on(int port);

  /// Marks a peer's request as complete: from now on it waits for the answer. `job` may be null; it
  /// is stopped if the peer disconnects.
  void begin(const Peer& peer, Job* job);
  /// Marks the answer as complete. `last`: the connection will be closed once it is sent.
  void end(const Peer& peer, bool last);

  /// Closes connections whose peer takes too long to send a request or to read an answer (reading
  /// 64 KiB counts as progress), or whose request is too large; with `all`, idle ones too.
  void sweep(bool all);

 private:
  struct State {
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    std::optional<std::uint64_t> before;  ///< bytes that had arrived before this request
    std::uint64_t taken = 0;              ///< bytes that the peer had acknowledged at `since`
    Job* job = nullptr;
    bool busy = false;
    bool arriving = false;  ///< a request has begun
    bool last = false;
    bool seen = true;
  };
  void check_connection(int socket, bool all);

  std::chrono::milliseconds request_timeout_;
  std::uint64_t max_bytes_;
  std::unique_ptr<DIR, int (*)(DIR*)> descriptors_{nullptr,
                                                   closedir};  ///< of this process, from /proc
  int port_ = 0;
  std::mutex mutex_;
  std::map<Peer, State> states_;
};

/// Registers a complete request until its answer is ready.
class ActiveRequest {
 public:
  ActiveRequest(ConnectionMonitor& connections, ConnectionMonitor::Peer peer, Job* job)
      : connections_(connections), peer_(std::move(peer)) {
    connections_.begin(peer_, job);
  }
  ~ActiveRequest() { connections_.end(peer_, false); }
  ActiveRequest(const ActiveRequest&) = delete;
  ActiveRequest& operator=(const ActiveRequest&) = delete;

 private:
  ConnectionMonitor& connections_;
  ConnectionMonitor::Peer peer_;
};

}  // namespace attn
