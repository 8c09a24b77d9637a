// A beam search as a picture: a column a step, a box a candidate, the winner in a straight line.
#pragma once

#include <string>

#include "record/attention_record.h"

namespace attn {

/// The search of a record, as SVG (XML, UTF-8): what each step kept, what it dropped (quieter),
/// what ended, with the score that decided; the exact log-probability, sum and score of each
/// candidate are in its data attributes and under the pointer. The path of the first hypothesis is
/// emphasised, or, where the tree does not hold it, that of the best score among the ended ones.
/// Never throws for what is in the record: without a search the picture says so, and a node whose
/// parent does not come before it stands at the start.
std::string search_tree_svg(const AttentionRecord& record);

}  // namespace attn
