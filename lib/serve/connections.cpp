#include "serve/connections.h"

#include <dirent.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <optional>

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

/// The other end of a connection of ours; nothing for any other descriptor.
std::optional<Connections::Peer> peer_of(int socket, int own_port) {
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
  return Connections::Peer{name.data(), port_of(address)};
}

bool has_gone(int socket) {
  pollfd wait{socket, POLLRDHUP, 0};
  return poll(&wait, 1, 0) > 0 && (wait.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

}  // namespace

void Connections::begin(const Peer& peer, Job* job) {
  const std::lock_guard lock(mutex_);
  State& state = states_[peer];
  state = {};
  state.busy = true;
  state.job = job;
}

void Connections::end(const Peer& peer, bool last) {
  const std::lock_guard lock(mutex_);
  State& state = states_[peer];
  state = {};
  state.last = last;
}

void Connections::look_at(int socket, bool all) {
  const std::optional<Peer> peer = peer_of(socket, port_);
  if (!peer) return;
  State& state = states_[*peer];
  state.seen = true;
  if (state.busy) {
    if (state.job != nullptr && has_gone(socket)) state.job->end(StopReason::gone);
    return;
  }
  constexpr std::chrono::milliseconds kToSend{300};
  const auto waited = std::chrono::steady_clock::now() - state.since;
  if (waited > patience_ || ((all || state.last) && waited > kToSend)) {
    shutdown(socket, SHUT_RDWR);
  }
}

void Connections::sweep(bool all) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir("/proc/self/fd"), closedir);
  if (!open) return;
  const std::lock_guard lock(mutex_);
  for (auto& [peer, state] : states_) state.seen = state.busy;
  while (const dirent* entry = readdir(open.get())) {
    if (entry->d_name[0] != '.') look_at(std::atoi(entry->d_name), all);
  }
  std::erase_if(states_, [](const auto& one) { return !one.second.seen; });
}

}  // namespace attn
