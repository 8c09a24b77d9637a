// What attn-demo serve was asked for, and who serves it.
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
  int drain = 0;  ///< seconds
  std::string log;
};

/// What runs when `serve` was named. The server's library takes 3 ms to load, as long as all that
/// the other commands do before they begin: it is linked to a program of its own, attn-demo-serve,
/// which puts its function here. Elsewhere this starts that program with the same command line.
using Serve = void (*)(const ServeOptions&);
Serve& serve();

}  // namespace attn
