// Who listens on a port of this machine.
#pragma once

#include <string>

namespace attn {

/// "python3, process 1234"; empty where the system does not say (another user's, another
/// machine's).
std::string process_on_port(int port);

}  // namespace attn
