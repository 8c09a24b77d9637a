// Records from outside, before they go into a page.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Whether a line is an attention record (docs/json.md): its keys are there, and its maps have as
/// many layers, heads, rows and columns as its model has and its tokens are. InputError, begun by
/// `where`, naming the key, what was found and what was expected. Keys that are not known pass.
void check_record_line(std::string_view line, const std::string& where);

}  // namespace attn
