// The table of search options as Markdown, for docs/commands.md.
#pragma once

#include <string>

namespace attn {

/// Returns the table's lines, each ending in a line break.
std::string search_options_markdown();

}  // namespace attn
