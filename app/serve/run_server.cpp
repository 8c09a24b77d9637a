// attn-demo-serve: runs the server.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/serve_options.h"
#include "compute/threads.h"
#include "serve/port.h"
#include "serve/server.h"
#include "serve/server_handler.h"
#include "terminal/console.h"
#include "terminal/stop_signal.h"

namespace attn {
namespace {

/// Binds the port; on failure, the message names the option that helps.
void bind(LiveServer& server) {
  try {
    server.bind();
  } catch (const ListenError& error) {
    if (error.other_port != 0) throw SystemError("{}: --port {}", error.what(), error.other_port);
    if (error.other_host.empty()) throw;
    throw SystemError("{}; --host {} is its own", error.what(), error.other_host);
  }
}

/// Exits if the program does not end soon after a signal, because loading a model and building a
/// large answer cannot be interrupted.
class ForcedExit {
 public:
  /// `drain`: how long the server continues after the signal.
  ForcedExit(const std::atomic<int>& signal, std::chrono::milliseconds drain)
      : thread_([this, &signal, drain] { watch(signal, drain); }) {}
  ~ForcedExit() {
    ended_ = true;
    thread_.join();
  }
  ForcedExit(const ForcedExit&) = delete;
  ForcedExit& operator=(const ForcedExit&) = delete;

 private:
  void watch(const std::atomic<int>& signal, std::chrono::milliseconds drain) {
    constexpr std::chrono::milliseconds kPause{20}, kPatience{1'650};
    while (signal == 0 && !ended_) std::this_thread::sleep_for(kPause);
    const auto end = std::chrono::steady_clock::now() + drain + kPatience;
    while (!ended_) {
      std::this_thread::sleep_for(kPause);
      if (std::chrono::steady_clock::now() < end) continue;
      remove_unfinished();
      _exit(128 + signal);
    }
  }
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

/// Checks a name by which a browser could address a server: translate.example.org, 10.0.0.7,
/// [fe80::1], each with or without a port.
void check_name(const std::string& name) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";
  if (name.find_first_not_of(kPlain) == std::string::npos) return;
  throw UsageError(
      "--name {}: expected a host such as translate.example.org, without http:// and path",
      excerpt(name));
}

/// Checks an origin as browsers send it: https://example.org, http://localhost:3000,
/// moz-extension://…, null; or * for all.
void check_origin(const char* option, const std::string& origin) {
  const std::size_t scheme = origin.find("://");
  const bool plain = std::ranges::all_of(origin, [](char c) { return c > ' ' && c < '\x7f'; });
  const bool is_whole = scheme != origin.npos && scheme > 0 && scheme + 3 < origin.size() &&
                        origin.find_first_of("/?#@*,", scheme + 3) == origin.npos;
  if (origin == "*" || origin == "null" || (plain && is_whole)) return;
  throw UsageError(
      "{} {}: expected an origin such as https://example.org, without a path or a slash at the "
      "end, or *",
      option, excerpt(origin));
}

void run_serve(const ServeOptions& options) {
  for (const std::string& name : options.names) check_name(name);
  for (const std::string& origin : options.allowed_origins) check_origin("--allow-origin", origin);
  for (const std::string& origin : options.frame_origins) check_origin("--allow-frame", origin);
  AccessRules rules;
  rules.host = options.host;
  rules.port = options.port;
  const bool loopback = for_field<SystemError>("host", [&] { return is_loopback(options.host); });
  if (!loopback) rules.token = new_token();
  const std::string token = rules.token;
  rules.names = options.names;
  rules.allowed_origins = options.allowed_origins;
  rules.frame_origins = options.frame_origins;
  ServeLimits limits;
  limits.drain = std::chrono::seconds(options.drain);
  const ModelChoice choice = options.source.choice();
  FileGuard guard;
  register_inputs(choice, guard);
  if (!options.log.empty()) guard.write("--log", options.log);
  use_threads(options.search.threads);
  // Limit the heaps: one per connection thread would cost at least a huge page of 2 MB each.
  constexpr int kHeaps = 4;
  mallopt(M_ARENA_MAX, kHeaps);
  // Fix the mmap threshold. Left alone, glibc takes ever larger blocks from its heaps, which small
  // answers keep it from releasing: one minute of 200 connections grew 70 MB to 430 MB.
  constexpr int kOwnPages = 128 << 10;
  mallopt(M_MMAP_THRESHOLD, kOwnPages);
  limits.worker_threads = static_cast<std::size_t>(std::max(1, available_cores()));
  std::optional<ForcedExit> last;  // must be destroyed last
  ServedModels models(choice, [](const FieldText& text) { note_all({text}); });
  std::optional<RequestLog> log;
  if (!options.log.empty()) log.emplace(options.log, [](const std::string& why) { note(why); });
  LiveServer server(std::move(rules), limits, models, ATTN_VERSION, log ? &*log : nullptr);
  const std::atomic<int>& signal = enable_graceful_stop();
  last.emplace(signal, limits.drain);
  bind(server);
  output().write(fmt::format("http://{}/{}\n", authority(options.host, server.port()),
                             token.empty() ? "" : "?token=" + token));
  output().flush();
  if (!loopback) {
    note(
        "other machines can reach this address; anyone with the token may use it, and the "
        "connection is not encrypted");
  }
  note("open the address in a browser; Ctrl-C stops the server");
  server.run(signal);
  throw StoppedBySignal{signal};
}

[[maybe_unused]] const bool registered = (serve() = run_serve, true);

}  // namespace
}  // namespace attn
