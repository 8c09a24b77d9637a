// The output of --help: options grouped by purpose, in lines that fit a terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Maximum width of help text, which gets piped and pasted. Narrower windows wrap descriptions
/// further.
inline constexpr int help_columns = 80;

/// Headings in --help; each option names its own with CLI11's group().
namespace help_group {
inline constexpr const char* reads = "What it reads";
inline constexpr const char* model = "Which model";
inline constexpr const char* makes = "What it makes";
inline constexpr const char* searches = "How it searches";
inline constexpr const char* samples = "How it samples";
inline constexpr const char* terminal = "What the terminal shows";
inline constexpr const char* measured = "What is measured";
inline constexpr const char* explained = "What is explained";
inline constexpr const char* files = "Files";
inline constexpr const char* what_if = "What if";
inline constexpr const char* runs = "How it runs";
inline constexpr const char* more = "More";  ///< options without a heading of their own

/// All headings in the order in which they are printed.
inline constexpr std::array in_order = {reads,    model,     makes, searches, samples, terminal,
                                        measured, explained, files, what_if,  runs,    more};
}  // namespace help_group

/// Returns the options and arguments under a heading, arguments first.
std::vector<const CLI::Option*> options_in(const CLI::App& app, std::string_view group);

/// Returns an option or argument with its value: "--beam K", "SENTENCE...".
std::string option_words(const CLI::Option& option);

/// Returns "attn-demo translate [SENTENCE...] [OPTIONS]" for a command that is invoked as `name`.
std::string usage_line(const CLI::App& app, const std::string& name);

/// Returns the formatter of the help for the program and its commands.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace attn
