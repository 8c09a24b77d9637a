// attn-demo serve: serves the live page and its JSON interface.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/help.h"
#include "commands/serve_options.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

/// Returns the path of attn-demo-serve, built or installed next to this program.
std::string serving_program() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& path :
       {folder / "attn-demo-serve", folder.parent_path() / "libexec" / "attn-demo-serve"}) {
    if (fs::exists(path, error)) return path.string();
  }
  throw SystemError(
      "{}: attn-demo-serve is missing next to this program; build or install it again",
      printable(folder.string()));
}

/// Replaces this process with that program.
void start_serving_program(const ServeOptions&) {
  const std::string program = serving_program();
  std::string typed = read_file("/proc/self/cmdline");
  std::vector<char*> words;
  for (char* word = typed.data(); word < typed.data() + typed.size();
       word += std::strlen(word) + 1) {
    words.push_back(word);
  }
  words.push_back(nullptr);
  execv(program.c_str(), words.data());
  throw SystemError("{}: cannot be started: {}", printable(program),
                    std::generic_category().message(errno));
}

}  // namespace

Serve& serve() {
  static Serve chosen = start_serving_program;
  return chosen;
}

void add_serve(CLI::App& app, Run& run) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command =
      app.add_subcommand("serve", "Serve the live page, which translates as you type");
  options->source.add_served_to(*command);
  options->source.add_prefix_to(*command);
  options->source.add_precision_to(*command);
  add_search_options(*command, options->search, on_serve);
  command
      ->add_option("--host", options->host,
                   "Address to listen on; other machines need a token [127.0.0.1]")
      ->type_name("ADDRESS")
      ->group(help_group::runs);
  add_number(*command, options->port, WholeField{"port", 0, 65'535},
             "Port to listen on; 0 picks a free one [8080]")
      ->type_name("N")
      ->group(help_group::runs);
  command
      ->add_option("--name", options->names,
                   "Host name of a load balancer or proxy in front of the server")
      ->type_name("HOST")
      ->group(help_group::runs);
  command
      ->add_option("--allow-origin", options->allowed_origins,
                   "Let pages of another site or a browser extension use the server (CORS); "
                   "several may be given; * allows all")
      ->type_name("ORIGIN")
      ->group(help_group::runs);
  command
      ->add_option("--allow-frame", options->frame_origins,
                   "Let pages of another site show the page in a frame; several may be given; * "
                   "allows all")
      ->type_name("ORIGIN")
      ->group(help_group::runs);
  add_number(*command, options->drain, WholeField{"drain", 0, 3600},
             "After a signal, keep serving this long while /ready answers 503 [0]")
      ->type_name("SECONDS")
      ->group(help_group::runs);
  command
      ->add_option("--log", options->log,
                   "Append one line of JSON per request, without its text; - is stdout")
      ->type_name("FILE")
      ->group(help_group::runs);
  command->footer(
      "Prints its address on stdout. POST /api/translate, /api/attend and /api/why\n"
      "answer with JSON.\n\n"
      "Examples:\n"
      "  attn-demo serve\n"
      "  attn-demo serve --port 8081 --model data/models/en-de --model my-model\n"
      "  attn-demo serve --precision int8\n"
      "  attn-demo serve --name translate.example.org --drain 5 --log requests.jsonl");
  refuse_empty_values(*command, {});
  command->callback([options, &run] { run = [options] { serve()(*options); }; });
}

}  // namespace attn
