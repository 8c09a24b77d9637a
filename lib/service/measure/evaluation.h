// Scores of translations against references, and of two systems against each other.
#pragma once

#include <string>
#include <vector>

#include "analysis/pharaoh.h"
#include "metrics/bleu.h"
#include "record/evaluation.h"
#include "record/head_report.h"
#include "service/model/open_model.h"
#include "translate/head_importance.h"

namespace attn {

struct ScoreSettings {
  bool lowercase = false;  ///< BLEU, chrF2 and chrF2++; TER never looks at case
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  Resampling resampling;  ///< where there is another system
};

/// Translations and what they are compared with, one line a sentence in each list.
struct ScoringInput {
  const std::vector<std::string>& hypotheses;
  const std::vector<std::vector<std::string>>& references;
  const std::vector<std::string>* against = nullptr;  ///< another system's; null: there is none
};

/// Fills in the scores, and where there is another system the paired bootstrap (but for its file's
/// name).
void compute_scores(ScoreReport& report, const ScoringInput& system, const ScoreSettings& settings);

// Pairs of sentences for evaluate --head-importance.

/// Source and target lines of one length as id pairs that fit the model. Pairs with an empty side
/// or more tokens than positions are left out, which `note` says; empty where all fit. InputError
/// where none is left.
std::vector<ReferencePair> make_scored_pairs(const ReadyModel& model,
                                             const std::vector<std::string>& source,
                                             const std::vector<std::string>& target,
                                             std::string& note);

// Pairs of sentences and their gold alignments.

/// Returns the alignments of a file, one line a pair; none if `gold` is empty. Throws InputError if
/// it has another number of lines.
std::vector<GoldAlignment> read_gold(const std::string& gold, std::size_t pairs);

/// Returns the place of a pair, from 0, in the file: "test.align:3".
std::string gold_line(const std::string& gold, std::size_t pair);

/// True if both sides have tokens, no more than the model has positions.
bool pair_fits(const ReadyModel& model, const PreparedSentence& source, const std::string& target);

// The figures of every head over a file of sentence pairs, for evaluate --report.

/// Shows the model each pair (the target is read, not searched for) and adds up what its heads do;
/// `gold` names a file of word alignments, one line a pair, to compare with; empty: none. A pair
/// that is empty or longer than the model's positions is left out; `note` says how many, where
/// there are any. InputError where `gold` has other lines than there are pairs, or names words that
/// they lack.
HeadReport measure_heads(const ReadyModel& model, const std::vector<std::string>& source,
                         const std::vector<std::string>& target, const std::string& gold,
                         std::string& note);

}  // namespace attn
