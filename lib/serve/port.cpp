#include "serve/port.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "base/error.h"
#include "serve/access.h"

namespace attn {
namespace {

/// Tries to bind the port. Returns 0 on success, else errno.
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
        fmt::format("{}: the port is in use{}; end that program, or choose another port", where,
                    holder.empty() ? "" : fmt::format(" ({} listens there)", holder)));
    error.other_port = port < 65535 ? port + 1 : 8080;
    throw error;
  }
  if (problem == EACCES) {
    ListenError error(where + ": ports below 1024 are reserved for the system; choose another one");
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

namespace {

namespace fs = std::filesystem;

/// Returns the inodes of sockets that listen on the port, from /proc/net/tcp and tcp6.
std::set<std::string> listening_sockets(int port) {
  constexpr const char* kListens = "0A";
  const std::string ends = fmt::format(":{:04X}", port);
  std::set<std::string> inodes;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    for (std::string line; std::getline(file, line);) {
      std::istringstream fields(line);
      std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
      fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
          timeout >> inode;
      if (state == kListens && local.ends_with(ends)) inodes.insert(inode);
    }
  }
  return inodes;
}

bool holds_one(const fs::path& process, const std::set<std::string>& inodes) {
  std::error_code error;
  for (fs::directory_iterator each(process / "fd", error), end; !error && each != end;
       each.increment(error)) {
    std::error_code unreadable;
    const std::string target = fs::read_symlink(each->path(), unreadable).string();
    constexpr std::string_view kSocket = "socket:[";
    if (!target.starts_with(kSocket)) continue;
    if (inodes.contains(target.substr(kSocket.size(), target.size() - kSocket.size() - 1))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string process_on_port(int port) {
  const std::set<std::string> inodes = listening_sockets(port);
  if (inodes.empty()) return "";
  std::error_code error;
  for (fs::directory_iterator each("/proc", error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (!holds_one(each->path(), inodes)) continue;
    std::string command;
    std::getline(std::ifstream(each->path() / "comm") >> std::ws, command);
    return fmt::format("{}, process {}", command, name);
  }
  return "";
}

}  // namespace attn
