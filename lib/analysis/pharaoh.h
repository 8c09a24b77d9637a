// Word alignments in the Pharaoh format: "0-0 1-2 2-1", the source word's number, then the target
// word's, both counted from 0; one line a sentence pair. In gold alignments "1p2" is a link that is
// possible but not sure. Our own weighted links, "0-0:0.93", are read, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/head_report.h"

namespace attn {

struct GoldLink {
  int source = 0;
  int target = 0;
  bool sure = true;
  float weight = 1;
};

/// The links of one sentence pair, as they stand in its line.
using GoldAlignment = std::vector<GoldLink>;

/// One line. `where` ("test.align:3") begins the message of the InputError for anything else.
GoldAlignment parse_pharaoh_line(std::string_view line, const std::string& where);

/// All lines of a file; an empty line is a pair without links.
std::vector<GoldAlignment> parse_pharaoh(std::string_view bytes, const std::string& path);

/// Adds one pair's links to a score. A link that stands in gold as sure and as possible is sure;
/// one that stands there twice counts once. `found` holds no link twice.
void add_to_score(GoldScore& score, const std::vector<AlignmentLink>& found,
                  const GoldAlignment& gold);

}  // namespace attn
