// SIGINT and SIGTERM: the first asks the work to stop at the next good moment, so that files are
// left whole; the second ends the process at once.
#pragma once

#include <stdexcept>

namespace attn {

/// Thrown at a good moment after a signal; main turns it into 128 + signal.
struct Stopped : std::runtime_error {
  explicit Stopped(int signal_number) : std::runtime_error("stopped"), signal(signal_number) {}
  int signal;
};

/// Installs the handlers, and makes writing to a closed pipe an error instead of a death.
void handle_stop_signals();

/// Becomes readable with the first signal, so that waiting for input can wait for it, too: a signal
/// between a check and a blocking read would otherwise go unseen.
int stop_descriptor();

/// Throws Stopped where a signal has come.
void check_stopped();

}  // namespace attn
