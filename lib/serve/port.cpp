#include "serve/port.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "serve/access.h"
#include "serve/port_holder.h"

namespace attn {
namespace {

/// Why a port cannot be taken, as errno; 0: it can.
int bind_problem(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return 0;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, freeaddrinfo);
  const int number = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number < 0) return errno;
  const int yes = 1;
  setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const int problem = bind(number, found->ai_addr, found->ai_addrlen) == 0 ? 0 : errno;
  close(number);
  return problem;
}

}  // namespace

void check_port(const std::string& host, int port) {
  const int problem = bind_problem(host, port);
  if (problem != 0) throw_listen_error(host, port, problem);
}

void throw_listen_error(const std::string& host, int port, int problem) {
  const std::string where = authority(host, port);
  if (problem == EADDRINUSE) {
    const std::string holder = process_on_port(port);
    ListenError error(
        fmt::format("{}: the port is in use{}; end that program, or take another port", where,
                    holder.empty() ? "" : fmt::format(" ({} listens there)", holder)));
    error.other_port = port < 65535 ? port + 1 : 8080;
    throw error;
  }
  if (problem == EACCES) {
    ListenError error(where + ": ports below 1024 are the system's; take another one");
    error.other_port = 8080;
    throw error;
  }
  if (problem == EADDRNOTAVAIL) {
    ListenError error(where + ": this machine does not have that address");
    error.other_host = "127.0.0.1";
    throw error;
  }
  throw ListenError(
      fmt::format("{}: cannot listen there: {}", where,
                  problem == 0 ? "the system does not say why" : std::strerror(problem)));
}

}  // namespace attn
