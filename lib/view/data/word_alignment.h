// Word alignments as lines of Pharaoh's format and as JSON.
#pragma once

#include <string>

#include "record/head_report.h"

namespace attn {

/// "0-0 1-2 2-1": source word, target word, both counted from 0. With weights "0-0:0.93 …", the
/// shortest decimals that read back to the same float. No newline.
std::string pharaoh_line(const WordAlignment& alignment, bool with_weights = false);

/// {"from":"cross:2:1","source":[words],"target":[words],"links":[{"source":0,"target":0,
/// "weight":0.93}],"weights":[target][source]}, on one line. A word is {"text","index"}: as its
/// pieces spell it, and its number in the text. Weights that are not finite are null.
void append_alignment_json(std::string& out, const WordAlignment& alignment);

}  // namespace attn
