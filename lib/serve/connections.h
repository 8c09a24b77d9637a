// The server's open connections, as the system knows them. httplib waits for each piece of a
// request with a limit of its own, so that a client who sends a byte now and then would be waited
// for without end: here whole requests have a limit.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "serve/turns.h"

namespace attn {

class Connections {
 public:
  using Peer = std::pair<std::string, int>;  ///< address and port of the other end

  explicit Connections(std::chrono::milliseconds patience) : patience_(patience) {}

  /// The port whose connections these are.
  void listen_on(int port) { port_ = port; }

  /// The whole request of a peer is there: from now on it is waited for the answer. `job` may be
  /// null; it is stopped where the peer goes away.
  void begin(const Peer& peer, Job* job);
  /// The answer is made. `last`: the connection is closed once it is sent.
  void end(const Peer& peer, bool last);

  /// Closes the connections of whoever has kept a request, or the reading of an answer, unfinished
  /// for too long; `all`: and of whoever asks nothing now.
  void sweep(bool all);

 private:
  struct State {
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    Job* job = nullptr;
    bool busy = false;
    bool last = false;
    bool seen = true;
  };
  void look_at(int socket, bool all);

  std::chrono::milliseconds patience_;
  int port_ = 0;
  std::mutex mutex_;
  std::map<Peer, State> states_;
};

}  // namespace attn
