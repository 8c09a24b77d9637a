#include "stop_signal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/files.h"

namespace attn {
namespace {

volatile std::sig_atomic_t stop_signal = 0;
int stop_pipe[2] = {-1, -1};

extern "C" void remember_signal(int number) {
  if (stop_signal != 0) {
    attn::remove_temporary_files();
    _exit(128 + number);
  }
  stop_signal = number;
  const int saved = errno;
  [[maybe_unused]] const ssize_t written = write(stop_pipe[1], "", 1);
  errno = saved;
}

}  // namespace

void handle_stop_signals() {
  if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0) stop_pipe[0] = stop_pipe[1] = -1;
  struct sigaction action {};
  action.sa_handler = remember_signal;  // without SA_RESTART: a blocked read returns
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int stop_descriptor() {
  return stop_pipe[0];
}

void check_stopped() {
  if (stop_signal != 0) throw Stopped(stop_signal);
}

}  // namespace attn
