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
#include "translate/translator.h"

namespace attn {

struct ScoreSettings {
  bool lowercase = false;  ///< for BLEU, chrF2 and chrF2++; TER always ignores case
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  Resampling resampling;  ///< used if there is another system
};

/// Translations and the texts to compare them with, one line per sentence in each list.
struct ScoringInput {
  const std::vector<std::string>& hypotheses;
  const std::vector<std::vector<std::string>>& references;
  const std::vector<std::string>* against =
      nullptr;  ///< another system's translations; null: there are none
};

/// Computes the scores and, if there is another system, the paired bootstrap (without the name of
/// its file).
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

/// Returns the alignments of a file, one line per pair; none if `gold` is empty. Throws InputError
/// if it has another number of lines.
std::vector<GoldAlignment> read_gold(const std::string& gold, std::size_t pairs);

/// Returns the position of a pair, counted from 0, in the file: "test.align:3".
std::string gold_line(const std::string& gold, std::size_t pair);

/// True if both sides have tokens, no more than the model has positions.
bool pair_fits(const ReadyModel& model, const PreparedSentence& source, const std::string& target);

// The figures of every head over a file of sentence pairs, for evaluate --report.

/// Runs the model with each pair (teacher-forced, without a search) and adds up statistics of its
/// heads. `gold` names a file of word alignments to compare with, one line per pair; empty: none.
/// Pairs that are empty or longer than the model's positions are left out; `note` reports their
/// number, if any. Throws InputError if `gold` does not have one line per pair, or names words
/// that a pair does not have.
HeadReport measure_heads(const ReadyModel& model, const std::vector<std::string>& source,
                         const std::vector<std::string>& target, const std::string& gold,
                         std::string& note);

}  // namespace attn
