// Receipts summed by words, for people.
#pragma once

#include <vector>

#include "record/head_report.h"
#include "record/word_receipt.h"
#include "why/why.h"

namespace attn {

/// The groups of tokens on both sides: one entry per group.
struct WhyUnits {
  std::vector<Word> source;  ///< all source tokens, in order
  std::vector<Word> target;  ///< all written tokens, in order
  std::vector<Word> shown;   ///< the groups of `target` that get a receipt
  /// The step of a foil that was given for the only shown word; −1: none was given. It comes after
  /// the word where the word is the beginning of the foil.
  int foil_step = -1;
};

/// Sums `why.receipt` by words. Each foil is that of the word's first token, or the given one.
/// Throws std::logic_error without a receipt.
WordReceipts word_receipts(const Why& why, const WhyUnits& units);

}  // namespace attn
