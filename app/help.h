// What --help prints: options grouped by what one wants, in lines that fit a terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace attn {

/// Columns that no line of a help text exceeds: help is piped and pasted. In a narrower window the
/// words about options keep to the window.
inline constexpr int help_columns = 80;

/// The heading under which --help lists an option of any command.
std::string_view help_group(std::string_view option);

/// Lays out the help of the program and of its commands.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace attn
