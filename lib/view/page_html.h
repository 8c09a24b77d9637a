// One self-contained HTML page on which records can be looked at: works from disk, offline, in any
// current browser. Its sources are lib/view/page/.
#pragma once

#include <span>
#include <string>

namespace attn {

/// The page with `record_lines` inside: each a record as one JSON object (to_json_line makes them;
/// docs/json.md lists the keys that the page knows beyond those). Blanks around an object do not
/// matter. Every "<" of the data is written as an escape, so that no text ends the element it is
/// in, and the page's policy lets nothing run but its own script, which it names by its SHA-256.
std::string page_html(std::span<const std::string> record_lines);

}  // namespace attn
