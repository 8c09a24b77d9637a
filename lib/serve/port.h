// The port that the server listens on.
#pragma once

#include <string>

namespace attn {

/// SystemError where the port cannot be taken: who could hold it, and what to try.
void check_port(const std::string& host, int port);

/// The same for a problem that is known, as errno; 0: the system does not say.
[[noreturn]] void refuse_port(const std::string& host, int port, int problem);

}  // namespace attn
