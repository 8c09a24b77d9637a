// attn-demo: parses the command line, runs one command, and is the one place that turns errors into
// a line on stderr and an exit code.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <sstream>
#include <tuple>

#include "base/error.h"
#include "base/utf8.h"
#include "commands.h"
#include "compute/matmul.h"
#include "config/experiment.h"
#include "console.h"
#include "stop_signal.h"

namespace {

using attn::ExitCode;

/// Where 0, 1 or 2 is closed, the next file that is opened would get the number, and what is meant
/// for stderr would land in it. Reading and writing there goes on failing.
void occupy_standard_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    std::ignore = open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int fail(ExitCode code, const std::string& message) {
  std::string line;
  for (const char c : message) line += c == '\n' ? ' ' : c;
  std::fputs(("attn-demo: " + attn::printable(line) + "\n").c_str(), stderr);
  return static_cast<int>(code);
}

int run_command(int argc, char** argv) {
  CLI::App app("An encoder-decoder Transformer that one can see through.", "attn-demo");
  app.require_subcommand(1);
  app.set_version_flag("--version", "attn-demo " ATTN_VERSION);
  app.footer(
      "Example:\n  attn-demo translate \"The group went home\"\n\n"
      "attn-demo COMMAND --help shows a command's options and examples.");
  attn::Run run;
  attn::add_translate(app, run);
  attn::add_explain(app, run);
  attn::add_page(app, run);
  attn::add_train(app, run);
  attn::add_init(app, run);
  attn::add_convert(app, run);
  attn::add_inspect(app, run);
  attn::add_evaluate(app, run);
  attn::add_tokenizer(app, run);
  const std::string command = argc > 1 ? argv[1] : "";
  std::vector<std::string> known;
  for (const CLI::App* each : app.get_subcommands(nullptr)) known.push_back(each->get_name());
  if (!command.empty() && command[0] != '-' &&
      std::find(known.begin(), known.end(), command) == known.end()) {
    return fail(ExitCode::usage,
                "no command " + command + "; did you mean " + attn::nearest(command, known) + "?");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    std::ostringstream text;
    app.exit(success, text, text);
    attn::output().write(text.str());
    attn::output().flush();
    return 0;
  } catch (const CLI::ParseError& error) {
    return fail(ExitCode::usage, std::string(error.what()) + "; attn-demo --help shows the usage");
  }
  // What the environment asks for is refused before anything is read.
  attn::kernels();
  attn::default_backend();
  run();
  attn::output().flush();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  attn::handle_stop_signals();
  try {
    return run_command(argc, argv);
  } catch (const attn::Error& error) {
    return fail(error.code(), error.what());
  } catch (const attn::StoppedBySignal& stopped) {
    return 128 + stopped.signal;
  } catch (const attn::ClosedPipe&) {
    return 0;
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::memory, "out of memory; choose a smaller model, --batch or --beam");
  } catch (const std::exception& error) {
    return fail(ExitCode::system, std::string("internal error: ") + error.what() +
                                      "; please report it with the command line");
  }
}
