// Word alignments as JSON.
#pragma once

#include <string>

#include "record/head_report.h"

namespace attn {

/// {"from":"cross:2:1","source":[words],"target":[words],"links":[{"source":0,"target":0,
/// "weight":0.93}],"weights":[target][source]}, on one line. A word is {"text","index"}: as its
/// pieces spell it, and its number in the text. Weights that are not finite are null.
void append_alignment_json(std::string& out, const WordAlignment& alignment);

}  // namespace attn
