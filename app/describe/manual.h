// Manual pages, generated from the texts of --help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace attn {

/// Returns a roff page of section 1 for the program or a command. `name` is how it is invoked
/// ("attn-demo translate"); `version` goes into the footer.
std::string manual_page(const CLI::App& app, const std::string& name, const std::string& version);

}  // namespace attn
