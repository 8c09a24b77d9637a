// One self-contained HTML page on which records can be looked at: works from disk, offline, in any
// current browser. Its sources are lib/view/page/.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attn {

/// The page with `records` inside, each as page_record() makes it. Every "<" of the data is written
/// as an escape, so that no text ends the element it is in, and the page's policy lets nothing run
/// but its own script, which it names by its SHA-256. `heads` are the figures of all heads over all
/// records (head_report_json makes them); empty: none. `curves` are those of training runs
/// (page_curve() makes each).
std::string page_html(std::span<const std::string> records, std::string_view heads = {},
                      std::span<const std::string> curves = {});

}  // namespace attn
