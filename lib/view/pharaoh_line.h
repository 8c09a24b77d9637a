// Word alignments as lines of Pharaoh's format: for files, and under a translation on the terminal.
#pragma once

#include <string>

#include "record/head_report.h"

namespace attn {

/// "0-0 1-2 2-1": source word, target word, both counted from 0. With weights "0-0:0.93 …", the
/// shortest decimals that read back to the same float. No newline.
std::string pharaoh_line(const WordAlignment& alignment, bool with_weights = false);

}  // namespace attn
