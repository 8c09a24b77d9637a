// SIGINT and SIGTERM end the program at once, wherever it is: half-written files go, and the exit
// code is 128 + signal.
#pragma once

#include <string>

namespace attn {

/// Installs the handlers; writing to a closed pipe, or beyond the limit on a file's size, becomes
/// an error that is reported instead of a death.
void handle_stop_signals();

/// Names a directory whose files of a model (config.json, source.spm, …) a signal removes with it.
/// At most four at a time; forget it when it is complete or gone.
void remove_on_stop(const std::string& directory);
void forget_on_stop(const std::string& directory);

}  // namespace attn
