// The figures of every head as text for a terminal.
#pragma once

#include <string>
#include <vector>

#include "record/head_report.h"

namespace attn {

/// A table a kind of attention, a row a head; the heads that align best are marked and named below,
/// with what each column says. At most `width` columns where it can (at least 40).
/// `notes` are said at the end.
std::string render_head_report(const HeadReport& report, int width = 80,
                               const std::vector<std::string>& notes = {});

/// The figures before an experiment and after it, two rows a head: those that differ in what is
/// printed; how many do not is said. Of the same model and sentences.
std::string render_head_changes(const HeadReport& before, const HeadReport& after, int width = 80);

}  // namespace attn
