#include "command_line.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/excerpt.h"
#include "base/utf8.h"
#include "config/experiment.h"

namespace attn {

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  line.app = std::make_unique<CLI::App>("An encoder-decoder Transformer that one can see through.",
                                        "attn-demo");
  CLI::App& app = *line.app;
  app.require_subcommand(1);
  app.set_version_flag("--version", "attn-demo " ATTN_VERSION);
  app.footer(
      "Example:\n  attn-demo translate \"The group went home\"\n\n"
      "attn-demo COMMAND --help shows a command's options and examples.");
  for (const auto add : {add_translate, add_explain, add_page, add_train, add_init, add_convert,
                         add_inspect, add_evaluate, add_tokenizer}) {
    add(app, line.run);
  }
  const std::string command = argc > 1 ? argv[1] : "";
  std::vector<std::string> known;
  for (const CLI::App* each : app.get_subcommands(nullptr)) known.push_back(each->get_name());
  if (!command.empty() && command[0] != '-' &&
      std::find(known.begin(), known.end(), command) == known.end()) {
    throw UsageError("no command {}; did you mean {}?", excerpt(command), nearest(command, known));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    std::ostringstream text;
    app.exit(success, text, text);
    line.text = text.str();
  } catch (const CLI::ParseError& error) {
    constexpr int kMostColumns = 300;  // the parser quotes whole arguments
    std::string found = error.what();
    std::replace(found.begin(), found.end(), '\n', ' ');
    throw UsageError("{}; attn-demo --help shows the usage",
                     fit_width(printable(found), kMostColumns));
  }
  return line;
}

}  // namespace attn
