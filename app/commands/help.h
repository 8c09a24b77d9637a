// What --help prints: options grouped by what one wants, in lines that fit a terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Columns that no line of a help text exceeds: help is piped and pasted. In a narrower window the
/// words about options keep to the window.
inline constexpr int help_columns = 80;

/// The heading under which --help lists an option of any command.
std::string_view help_group(std::string_view option);

/// The headings, in the order in which they are printed.
std::vector<std::string_view> help_groups();

/// The options and arguments that --help lists under a heading, arguments first.
std::vector<const CLI::Option*> options_in(const CLI::App& app, std::string_view group);

/// "--beam K", "SENTENCE...": an option or argument with what follows it.
std::string option_words(const CLI::Option& option);

/// "attn-demo translate [SENTENCE...] [OPTIONS]", of a command that is run as `name`.
std::string usage_line(const CLI::App& app, const std::string& name);

/// Lays out the help of the program and of its commands.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace attn
