// The receipts of written words as text: where each word's logit came from.
#pragma once

#include <string>

#include "record/word_receipt.h"
#include "view/terminal/styled_text.h"

namespace attn {

struct WhyTextOptions {
  int top = 4;         ///< words named on each line; the others are summed
  bool brief = false;  ///< one line per word, for a blackboard
};

/// Returns three lines per word: the shares of the source words, of the words before it and of the
/// rest, as percentages that add up to 100. The third line also says what decided against the foil,
/// in logits that add up to the difference. If a logit is nearly 0, shares mean little, and the
/// lines have the logits themselves.
std::string why_text(const WordReceipts& receipts, const WhyTextOptions& options,
                     const TerminalStyle& style);

}  // namespace attn
