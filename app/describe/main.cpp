// describe DIRECTORY: writes attn-demo's manual pages, shell completions and option tables into a
// folder during the build.
#include <cstdio>
#include <exception>
#include <string>

#include "base/files/files.h"
#include "commands/command_line.h"
#include "describe/descriptions.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: describe DIRECTORY\n", stderr);
    return 2;
  }
  const std::string directory = argv[1];
  try {
    const attn::CommandLine line = attn::command_tree();
    const CLI::App& app = *line.app;
    attn::write_file(directory + "/attn-demo.1", attn::manual_page(app, "attn-demo", ATTN_VERSION));
    for (const CLI::App* command : app.get_subcommands({})) {
      attn::write_file(
          directory + "/attn-demo-" + command->get_name() + ".1",
          attn::manual_page(*command, "attn-demo " + command->get_name(), ATTN_VERSION));
    }
    attn::write_file(directory + "/search-options.md", attn::search_options_markdown());
    attn::write_file(directory + "/attn-demo.bash", attn::bash_completion(app));
    attn::write_file(directory + "/_attn-demo", attn::zsh_completion(app));
    attn::write_file(directory + "/attn-demo.fish", attn::fish_completion(app));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "describe: %s\n", error.what());
    return 1;
  }
  return 0;
}
