// What --help prints: options grouped by what one wants, in lines that fit a terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Columns that no line of a help text exceeds: help is piped and pasted. In a narrower window the
/// words about options keep to the window.
inline constexpr int help_columns = 80;

/// Headings under which --help lists options; each option names its own with CLI11's group().
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

/// In the order in which they are printed.
inline constexpr std::array in_order = {reads,    model,     makes, searches, samples, terminal,
                                        measured, explained, files, what_if,  runs,    more};
}  // namespace help_group

/// The options and arguments that --help lists under a heading, arguments first.
std::vector<const CLI::Option*> options_in(const CLI::App& app, std::string_view group);

/// "--beam K", "SENTENCE...": an option or argument with what follows it.
std::string option_words(const CLI::Option& option);

/// "attn-demo translate [SENTENCE...] [OPTIONS]", of a command that is run as `name`.
std::string usage_line(const CLI::App& app, const std::string& name);

/// Lays out the help of the program and of its commands.
std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace attn
