// The port on which the server listens.
#pragma once

#include <string>

#include "base/error.h"

namespace attn {

/// The reason why listening failed, and a suggested alternative.
struct ListenError : SystemError {
  explicit ListenError(const std::string& message) : SystemError("{}", message) {}
  int other_port = 0;      ///< 0: the port is not the problem
  std::string other_host;  ///< empty: the host is not the problem
};

/// Throws ListenError, naming the process that holds the port if possible, if it cannot be bound.
void check_port(const std::string& host, int port);

/// Throws the same for a known problem, given as errno; 0: the system gives no reason.
[[noreturn]] void throw_listen_error(const std::string& host, int port, int problem);

// The process that listens on a port of this machine.

/// Returns "python3, process 1234"; empty if the system does not tell (processes of other users or
/// machines).
std::string process_on_port(int port);

}  // namespace attn
