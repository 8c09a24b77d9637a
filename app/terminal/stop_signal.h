// Signals that ask the program to end (SIGINT, SIGTERM, SIGHUP, SIGUSR1, timers, limits) do so at
// once, wherever it is: half-written files go, and the exit code is 128 + signal. Training asks for
// one warning first. Crashes end it as ever, only without half-written files.
#pragma once

#include <atomic>

namespace attn {

/// Installs the handlers; writing to a closed pipe, or beyond the limit on a file's size, becomes
/// an error that is reported instead of a death, and so does a model's file that is cut short under
/// the running program.
void handle_stop_signals();

/// From now on SIGHUP, of a terminal that closes, ends nothing.
void ignore_hangup();

/// From now on the first signal only sets the returned number to its own, and the second one ends
/// the program.
const std::atomic<int>& enable_graceful_stop();

/// What a command throws when it ended because of a signal: main exits with 128 + signal.
struct StoppedBySignal {
  int signal;
};

/// What ends the program early removes: half-written files and directories, and the line that shows
/// progress; a terminal whose line is edited is given back. Safe in a handler.
void remove_unfinished();

}  // namespace attn
