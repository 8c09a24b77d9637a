// The whole command line: commands, options and their words.
#pragma once

#include <memory>
#include <string>

#include "commands/commands.h"

namespace attn {

/// What a command line asks for: a text to show (help, the version), else a command to run.
struct CommandLine {
  std::unique_ptr<CLI::App> app;  ///< commands look at their options while they run
  std::string text;
  Run run;
};

/// Nothing is run or opened. UsageError for what is no command line; the words of some options are
/// looked at only when the command runs.
CommandLine parse_command_line(int argc, const char* const* argv);

/// All commands and options, to be described (app/describe/): nothing of it is parsed.
CommandLine command_tree();

}  // namespace attn
