// The faithfulness of answers to "why this word?" on a test set, as plain data for the views.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "record/head_report.h"

namespace attn {

/// Falls of log p(word) without one source word, summed over all written words.
struct DeletionSums {
  double named = 0;   ///< without the source word that the method names
  double random = 0;  ///< the mean over all source words
  double most = 0;    ///< without the source word that matters most

  /// Returns 0 for naming words at random and 1 for naming the best one each time; nullopt if no
  /// word matters.
  std::optional<double> faithfulness() const {
    if (!(most > random)) return std::nullopt;
    return (named - random) / (most - random);
  }
};

/// One method over all pairs.
struct WhyMethodScore {
  std::string name;   ///< for programs: "receipt"
  std::string label;  ///< for people: "receipt of the word"
  std::size_t pairs = 0;
  GoldScore gold;             ///< of the source word with the largest entry
  DeletionSums drop;          ///< with the word dropped
  DeletionSums unk;           ///< with <unk> in its place
  double seconds = 0;         ///< over all pairs, besides the pass that all methods read
  std::string obstacle = {};  ///< the reason why this model has no such values; empty if it has
};

struct WhyEvaluation {
  std::string model;
  std::size_t pairs = 0;
  std::size_t words = 0;  ///< written words whose source word was named
  bool has_gold = false;
  std::size_t gold_pairs = 0;
  std::size_t gold_skipped = 0;  ///< their tokens give other words than their texts have
  double pass_seconds = 0;       ///< over all pairs: the teacher-forced passes
  std::vector<WhyMethodScore> methods;
};

}  // namespace attn
