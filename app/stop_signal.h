// SIGINT and SIGTERM end the program at once, wherever it is: half-written files go, and the exit
// code is 128 + signal. Training asks for one warning first.
#pragma once

#include <atomic>
#include <string>

namespace attn {

/// Installs the handlers; writing to a closed pipe, or beyond the limit on a file's size, becomes
/// an error that is reported instead of a death.
void handle_stop_signals();

/// From now on SIGHUP, of a terminal that closes, ends nothing.
void ignore_hangup();

/// From now on the first signal only sets the returned number to its own, and the second one ends
/// the program.
const std::atomic<int>& stop_gently();

/// What a command throws when it ended because of a signal: main exits with 128 + signal.
struct StoppedBySignal {
  int signal;
};

/// What a signal that ends the program removes: half-written files, and named directories. Safe in
/// a handler.
void remove_unfinished();

/// Names a directory whose files of a model (config.json, source.spm, …) a signal removes with it.
/// At most four at a time; forget it when it is complete or gone.
void remove_on_stop(const std::string& directory);
void forget_on_stop(const std::string& directory);

}  // namespace attn
