// Shell completions, generated from the tree of commands and options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace attn {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

}  // namespace attn
