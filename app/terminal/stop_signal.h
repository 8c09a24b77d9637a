// Signals that ask the program to end (SIGINT, SIGTERM, SIGHUP, SIGUSR1, timers, limits) end it at
// once: half-written files are removed, and the exit code is 128 + signal. Training instead treats
// the first signal as a request to stop gracefully. Crashes end the program as usual, but without
// half-written files.
#pragma once

#include <atomic>

namespace attn {

/// Installs the handlers. Writing to a closed pipe or beyond the file size limit becomes a reported
/// error instead of killing the process, and so does a model file that is truncated while the
/// program runs.
void handle_stop_signals();

/// Ignores SIGHUP, which a closing terminal sends, from now on.
void ignore_hangup();

/// Makes the first signal only store its number in the result; a second one ends the program.
const std::atomic<int>& enable_graceful_stop();

/// Thrown by a command that ended because of a signal; main exits with 128 + signal.
struct StoppedBySignal {
  int signal;
};

/// Removes half-written files and directories and the status line, and restores a terminal with
/// line editing. Called when the program ends early; safe in a handler.
void remove_unfinished();

}  // namespace attn
