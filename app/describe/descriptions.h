// Texts derived from the program's tree of commands and its table of options: shell completions
// (completion.cpp), manual pages (manual.cpp) and the documents' table of search options
// (option_tables.cpp).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace attn {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

/// Returns a roff page of section 1 for the program or a command. `name` is how it is invoked
/// ("attn-demo translate"); `version` goes into the footer.
std::string manual_page(const CLI::App& app, const std::string& name, const std::string& version);

/// Returns the lines of a Markdown table for docs/commands.md, each ending in a line break.
std::string search_options_markdown();

}  // namespace attn
