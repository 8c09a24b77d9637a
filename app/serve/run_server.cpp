// What attn-demo-serve does: it serves.
#include <malloc.h>

#include <algorithm>

#include "arguments.h"
#include "base/error.h"
#include "compute/threads.h"
#include "console.h"
#include "serve/port.h"
#include "serve/server.h"
#include "serve_options.h"
#include "served_models.h"
#include "stop_signal.h"

namespace attn {
namespace {

/// Where the server cannot listen, the option that would let it.
void bind(LiveServer& server) {
  try {
    server.bind();
  } catch (const ListenError& error) {
    if (error.other_port != 0) throw SystemError("{}: --port {}", error.what(), error.other_port);
    if (error.other_host.empty()) throw;
    throw SystemError("{}; --host {} is its own", error.what(), error.other_host);
  }
}

void run_serve(const ServeOptions& options) {
  GateRules rules;
  rules.host = options.host;
  rules.port = static_cast<int>(parse_whole("--port", options.port, 0, 65535));
  const bool loopback =
      for_option<SystemError>("--host", [&] { return is_loopback(options.host); });
  if (!loopback) rules.token = new_token();
  const std::string token = rules.token;
  options.search.use_threads();
  // A thread a connection must not mean a heap a connection, each at least a huge page of 2 MB.
  constexpr int kHeaps = 4;
  mallopt(M_ARENA_MAX, kHeaps);
  // Left to itself, glibc takes ever larger pieces from its heaps, where answers of few bytes keep
  // them from being given back: a minute of 200 connections made 70 MB into 430.
  constexpr int kOwnPages = 128 << 10;
  mallopt(M_MMAP_THRESHOLD, kOwnPages);
  ServeLimits limits;
  limits.at_once = static_cast<std::size_t>(std::max(1, available_cores()));
  ServedModels models(options.source);
  LiveServer server(std::move(rules), limits, models, ATTN_VERSION);
  const std::atomic<int>& signal = stop_gently();
  bind(server);
  output().write(fmt::format("http://{}/{}\n", authority(options.host, server.port()),
                             token.empty() ? "" : "?token=" + token));
  output().flush();
  if (!loopback) {
    note(
        "others can reach this address: whoever has it with its token may ask; it is not "
        "encrypted");
  }
  note("open the address in a browser; Ctrl-C ends");
  server.run(signal);
  throw StoppedBySignal{signal};
}

[[maybe_unused]] const bool registered = (serve() = run_serve, true);

}  // namespace
}  // namespace attn
