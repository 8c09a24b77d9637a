// Manual pages, from the texts of --help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace attn {

/// A page of section 1 in man's own language, of the program or of a command. `name` is what it is
/// run as ("attn-demo translate"); `version` stands at the foot.
std::string manual_page(const CLI::App& app, const std::string& name, const std::string& version);

}  // namespace attn
