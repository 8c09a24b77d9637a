// The port that the server listens on.
#pragma once

#include <string>

#include "base/error.h"

namespace attn {

/// Why one cannot listen there, and what would do instead.
struct ListenError : SystemError {
  explicit ListenError(const std::string& message) : SystemError("{}", message) {}
  int other_port = 0;      ///< 0: it is not the port's fault
  std::string other_host;  ///< empty: it is not the host's fault
};

/// ListenError where the port cannot be taken, saying who could hold it.
void check_port(const std::string& host, int port);

/// The same for a problem that is known, as errno; 0: the system does not say.
[[noreturn]] void throw_listen_error(const std::string& host, int port, int problem);

// Who listens on a port of this machine.

/// "python3, process 1234"; empty where the system does not say (another user's, another
/// machine's).
std::string process_on_port(int port);

}  // namespace attn
