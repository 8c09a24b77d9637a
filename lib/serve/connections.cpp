#include "serve/connections.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdlib>

namespace attn {
namespace {

int port_of(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  }
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return 0;
}

/// Returns the peer of one of our connections, or nothing for any other descriptor.
std::optional<ConnectionMonitor::Peer> peer_of(int socket, int own_port) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* const as_address = reinterpret_cast<sockaddr*>(&address);
  if (getsockname(socket, as_address, &size) != 0 || port_of(address) != own_port) return {};
  size = sizeof address;
  if (getpeername(socket, as_address, &size) != 0) return {};
  std::array<char, NI_MAXHOST> name{};
  if (getnameinfo(as_address, size, name.data(), name.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
    return {};
  }
  return ConnectionMonitor::Peer{name.data(), port_of(address)};
}

/// Bytes transferred since the connection was opened; 0 if the system does not report them (before
/// Linux 4.1).
struct Traffic {
  std::uint64_t taken;     ///< acknowledged by the peer
  std::uint64_t received;  ///< from the peer, read or not
};

Traffic traffic_of(int socket) {
  // tcp_info of linux/tcp.h. That header conflicts with netinet/tcp.h, whose struct lacks the last
  // fields.
  struct TcpInfo {
    std::array<std::byte, 120> other;
    std::uint64_t bytes_acked, bytes_received;
  } info{};
  socklen_t size = sizeof info;
  const bool told = getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
  return told && size == sizeof info ? Traffic{info.bytes_acked, info.bytes_received} : Traffic{};
}

bool has_gone(int socket) {
  pollfd wait{socket, POLLRDHUP, 0};
  return poll(&wait, 1, 0) > 0 && (wait.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace

void ConnectionMonitor::begin(const Peer& peer, Job* job) {
  const std::lock_guard lock(mutex_);
  State& state = states_[peer];
  state = {};
  state.busy = true;
  state.job = job;
}

void ConnectionMonitor::end(const Peer& peer, bool last) {
  const std::lock_guard lock(mutex_);
  State& state = states_[peer];
  state = {};
  state.last = last;
}

void ConnectionMonitor::check_connection(int socket, bool all) {
  const std::optional<Peer> peer = peer_of(socket, port_);
  if (!peer) return;
  const auto [found, is_new] = states_.try_emplace(*peer);
  State& state = found->second;
  state.seen = true;
  if (is_new) state.before = 0;
  if (state.busy) {
    if (state.job != nullptr && has_gone(socket)) state.job->end(StopReason::disconnected);
    return;
  }
  constexpr std::chrono::milliseconds kToSend{300};
  constexpr std::uint64_t kProgress = std::uint64_t{64} << 10;
  const Traffic traffic = traffic_of(socket);
  const auto now = std::chrono::steady_clock::now();
  if (traffic.taken >= state.taken + kProgress) {  // a long answer that is being read
    state.taken = traffic.taken;
    state.since = now;
  }
  if (!state.before) state.before = traffic.received;
  if (!state.arriving && traffic.received > *state.before) {
    state.arriving = true;
    state.since = now;  // the time limit is for the request, not for the pause before it
  }
  const auto waited = now - state.since;
  const bool endless = traffic.received > *state.before + max_bytes_;
  if (endless || waited > request_timeout_ || ((all || state.last) && waited > kToSend)) {
    shutdown(socket, SHUT_RDWR);
  }
}

void ConnectionMonitor::listen_on(int port) {
  port_ = port;
  descriptors_.reset(opendir("/proc/self/fd"));
}

void ConnectionMonitor::sweep(bool all) {
  if (!descriptors_) return;
  rewinddir(descriptors_.get());
  const std::lock_guard lock(mutex_);
  for (auto& [peer, state] : states_) state.seen = state.busy;
  while (const dirent* entry = readdir(descriptors_.get())) {
    if (entry->d_name[0] != '.') check_connection(std::atoi(entry->d_name), all);
  }
  std::erase_if(states_, [](const auto& one) { return !one.second.seen; });
}

}  // namespace attn
