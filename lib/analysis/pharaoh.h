// Word alignments in the Pharaoh format, one line per sentence pair: "0-0 1-2 2-1", the number of
// the source word, then of the target word, both from 0. In gold alignments, "1p2" is a link that
// is possible but not sure. The program's own weighted links, "0-0:0.93", are accepted, too.
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

/// The links of one sentence pair, in the order of its line.
using GoldAlignment = std::vector<GoldLink>;

/// Parses one line. Throws InputError, beginning with `where` ("test.align:3"), for anything else.
GoldAlignment parse_pharaoh_line(std::string_view line, const std::string& where);

/// Parses all lines of a file; an empty line is a pair without links.
std::vector<GoldAlignment> parse_pharaoh(std::string_view bytes, const std::string& path);

/// Adds one pair's links to a score. A link that gold lists as both sure and possible is sure, and
/// duplicates count once. `found` must not contain duplicates.
void add_to_score(GoldScore& score, const std::vector<AlignmentLink>& found,
                  const GoldAlignment& gold);

}  // namespace attn
