// Records from outside, before they go into a page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The records of a line: one, or the two of an experiment (docs/json.md), as what_if_records()
/// makes them. InputError, begun by `where`, where one has not the shape that the page's scripts
/// read (record_shape.h).
std::vector<std::string> page_record_lines(std::string_view line, const std::string& where);

/// Whether a line begins as the figures of all heads over several sentences do, which --report adds
/// after the records (head_report_json).
bool is_heads_line(std::string_view line);

/// Checks those figures and says over how many sentences they are. InputError as above.
std::size_t check_heads_line(std::string_view line, const std::string& where);

}  // namespace attn
