// The receipts of written words as a picture: one panel of bars per word.
#pragma once

#include <string>

#include "record/attention_record.h"
#include "record/word_receipt.h"

namespace attn {

/// Returns an SVG file with a panel for each word. Its bars are the logits that source words,
/// earlier words and the rest added: to the right if they helped the word, to the left if not. All
/// panels have one scale.
std::string why_svg(const WordReceipts& receipts, const ModelSummary& model);

}  // namespace attn
