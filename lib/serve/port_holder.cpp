#include "serve/port_holder.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace attn {
namespace {

namespace fs = std::filesystem;

/// The inodes of sockets that listen on the port, from /proc/net/tcp and tcp6.
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
