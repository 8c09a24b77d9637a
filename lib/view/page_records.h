// Records from outside, before they go into a page.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Whether a line is an attention record (docs/json.md): its keys are there, and its maps have as
/// many layers, heads, rows and columns as its model has and its tokens are. InputError, begun by
/// `where`, naming the key, what was found and what was expected. Keys that are not known pass.
void check_record_line(std::string_view line, const std::string& where);

/// Whether a line begins as the figures of all heads over several sentences do, which --report adds
/// after the records (head_report_json).
bool is_heads_line(std::string_view line);

/// Whether those figures are numbers or null, by kind, layer and head. InputError as above.
void check_heads_line(std::string_view line, const std::string& where);

}  // namespace attn
