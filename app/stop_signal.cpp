#include "stop_signal.h"

#include <unistd.h>

#include <csignal>

#include "base/files.h"

namespace attn {
namespace {

volatile std::sig_atomic_t stop_signal = 0;

extern "C" void remember_signal(int number) {
  if (stop_signal != 0) {
    attn::remove_temporary_files();
    _exit(128 + number);
  }
  stop_signal = number;
}

}  // namespace

void handle_stop_signals() {
  struct sigaction action {};
  action.sa_handler = remember_signal;  // without SA_RESTART: a blocked read returns
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void check_stopped() {
  if (stop_signal != 0) throw Stopped(stop_signal);
}

}  // namespace attn
