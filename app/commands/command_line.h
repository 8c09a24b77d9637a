// The command line: commands and their options.
#pragma once

#include <memory>
#include <string>

#include "commands/commands.h"

namespace attn {

/// A parsed command line: text to show (help, the version) or a command to run.
struct CommandLine {
  std::unique_ptr<CLI::App> app;  ///< commands read their options from it while they run
  std::string text;
  Run run;
};

/// Parses without running or opening anything. Throws UsageError for an invalid command line; some
/// option values are checked only when the command runs.
CommandLine parse_command_line(int argc, const char* const* argv);

/// Returns all commands and options without parsing anything, for app/describe/.
CommandLine command_tree();

}  // namespace attn
