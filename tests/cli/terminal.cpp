#include "terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "base/at.h"

namespace attn::test {

Terminal::Terminal(unsigned short columns) : master_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
  std::array<char, 128> name{};
  if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0 ||
      ptsname_r(master_, name.data(), name.size()) != 0) {
    throw std::runtime_error("no terminal");
  }
  const winsize window{24, columns, 0, 0};
  ioctl(master_, TIOCSWINSZ, &window);
  name_ = name.data();
}

void Terminal::become_controlling(const std::vector<int>& on) const {
  setsid();
  const int slave = open(name_.c_str(), O_RDWR);
  for (const int number : on) dup2(slave, number);
  ::close(slave);
}

void Terminal::send(const std::string& keys) const {
  if (write(master_, keys.data(), keys.size()) != to_index(keys.size())) {
    throw std::runtime_error("the terminal takes no keys");
  }
}

bool Terminal::read_more() {
  pollfd end{master_, POLLIN, 0};
  if (poll(&end, 1, 10'000) <= 0) return false;
  std::array<char, 4096> block{};
  const ssize_t n = read(master_, block.data(), block.size());
  if (n <= 0) return false;
  seen_.append(block.data(), to_size(n));
  return true;
}

bool Terminal::wait_for(const std::string& part) {
  for (;;) {
    const std::size_t at = seen_.find(part, found_);
    if (at != std::string::npos) {
      found_ = at + part.size();
      return true;
    }
    if (!read_more()) return false;
  }
}

bool Terminal::wait_for_prompt() {
  if (!wait_for("> ")) return false;
  for (int i = 0; i < 10'000; ++i) {
    termios now{};
    if (tcgetattr(master_, &now) == 0 && (now.c_lflag & ICANON) == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

void Terminal::read_rest() {
  while (read_more()) {
  }
}

bool Terminal::wait_for_exit(int code) {
  const std::string line = "exit code " + std::to_string(code) + "\r\n";
  const bool ended = wait_for(line);
  if (ended) seen_.resize(seen_.size() - line.size());
  return ended;
}

void Terminal::close() {
  if (master_ >= 0) ::close(master_);
  master_ = -1;
}

Request in_a_shell(Request request) {
  request.args.insert(
      request.args.begin(),
      {"-c", R"(trap : INT; "$0" "$@"; echo "exit code $?"; read line)", ATTN_DEMO_BINARY});
  request.program = "/bin/sh";
  return request;
}

}  // namespace attn::test
