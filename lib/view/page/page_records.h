// Records from outside, before they go into a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The records of a line: one, or the two of an experiment (docs/json.md), as what_if_records()
/// makes them. Of each the keys are there, and its maps have as many layers, heads, rows and
/// columns as its model has and its tokens are. InputError, begun by `where`, naming the key, what
/// was found and what was expected. Keys that are not known pass.
std::vector<std::string> page_record_lines(std::string_view line, const std::string& where);

/// Whether a line begins as the figures of all heads over several sentences do, which --report adds
/// after the records (head_report_json).
bool is_heads_line(std::string_view line);

/// Checks that those figures are numbers or null, by kind, layer and head, and says over how many
/// sentences they are. InputError as above.
std::size_t check_heads_line(std::string_view line, const std::string& where);

}  // namespace attn
