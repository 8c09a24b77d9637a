// The options of attn-demo serve, and the function that serves.
#pragma once

#include <string>
#include <vector>

#include "commands/model_options.h"
#include "commands/search_options.h"

namespace attn {

struct ServeOptions {
  ModelOptions source;
  SearchOptions search;
  std::string host = "127.0.0.1";
  int port = 8080;
  std::vector<std::string> names;
  std::vector<std::string> allowed_origins;
  std::vector<std::string> frame_origins;  ///< --allow-frame
  int drain = 0;                           ///< seconds
  std::string log;
};

/// The function that runs for `serve`. The server library takes 3 ms to load, as long as everything
/// else that commands do at startup. It is therefore linked only into the separate program
/// attn-demo-serve, which registers its function here. In other programs, this function starts
/// attn-demo-serve with the same command line.
using Serve = void (*)(const ServeOptions&);
Serve& serve();

}  // namespace attn
