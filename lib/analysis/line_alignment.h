// Word alignments of a line that was translated in parts.
#pragma once

#include <span>

#include "record/attention_record.h"

namespace attn {

/// The parts' links by the words of whole line and whole translation, as split at blanks: those of
/// hypothesis `ranks[i]` of record i, which has been aligned. The translations are joined as the
/// sources are, with the gaps of LinePart between.
WordAlignment line_alignment(std::span<const AttentionRecord> parts,
                             std::span<const std::size_t> ranks);

}  // namespace attn
