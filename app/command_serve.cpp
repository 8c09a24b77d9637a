// attn-demo serve: the page, live, and the JSON behind it.
#include <malloc.h>

#include <algorithm>
#include <memory>

#include "arguments.h"
#include "base/error.h"
#include "commands.h"
#include "compute/threads.h"
#include "console.h"
#include "search_options.h"
#include "serve/server.h"
#include "served_models.h"
#include "stop_signal.h"

namespace attn {
namespace {

struct CommandServeOptions {
  ModelOptions source;
  SearchOptions search;
  std::string host = "127.0.0.1";
  std::string port = "8080";
};

void run_serve(const CommandServeOptions& options) {
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
  ServeLimits limits;
  limits.at_once = static_cast<std::size_t>(std::max(1, available_cores()));
  ServedModels models(options.source);
  LiveServer server(std::move(rules), limits, models, ATTN_VERSION);
  const std::atomic<int>& signal = stop_gently();
  server.bind();
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

}  // namespace

void add_serve(CLI::App& app, Run& run) {
  auto options = std::make_shared<CommandServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "The page, live: it follows what one types");
  options->source.add_served_to(*command);
  options->search.add_threads_to(*command);
  command
      ->add_option("--host", options->host,
                   "Address to listen on; any but this machine's own asks for a token [127.0.0.1]")
      ->type_name("ADDRESS");
  command->add_option("--port", options->port, "Port to listen on; 0: any that is free [8080]")
      ->type_name("N");
  command->footer(
      "The address is printed on stdout. POST /api/translate and /api/attend answer JSON.\n\n"
      "Examples:\n"
      "  attn-demo serve\n"
      "  attn-demo serve --port 8081 --model data/models/en-de --model my-model");
  refuse_empty_values(*command, {});
  command->callback([options, &run] { run = [options] { run_serve(*options); }; });
}

}  // namespace attn
