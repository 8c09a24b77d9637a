// Searching for translations: greedy and beam search over a whole batch, with the semantics of
// transformers' `generate`.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "config/decode_config.h"
#include "model/transformer.h"
#include "translate/ensemble.h"

namespace attn {

struct SearchHypothesis {
  std::vector<int> ids;  ///< produced tokens, the end symbol last where the hypothesis ended
  /// Sum of the processed log-probabilities (a forced token counts 0) divided by
  /// length ^ length_penalty, length being ids.size().
  float score = 0;
};

/// What a search did, step by step: the view of a beam tree and its tests read it.
class SearchTrace {
 public:
  struct Candidate {
    Index parent = 0;  ///< row of the step before, within the sentence
    int token = 0;
    float log_prob = 0;  ///< accumulated
    bool ended = false;
    bool kept = false;  ///< goes on into the next step
  };
  virtual ~SearchTrace() = default;
  /// The candidates of one sentence at one step, best first.
  virtual void step(Index sentence, Index step, std::span<const Candidate> candidates) = 0;
};

/// Who looks on, and who interferes. Null is off and costs nothing.
struct SearchContext {
  SearchTrace* trace = nullptr;
  AttentionObserver* observer = nullptr;    ///< of the first model's encoder and of its every step
  const std::atomic<bool>* stop = nullptr;  ///< another thread sets it: nobody waits any more
  /// What the first model's encoder gave for this batch, where somebody has run it; outlives the
  /// search.
  const EncodedSource* encoded = nullptr;
  /// Sentences that share the decoder's steps; where there are more, the next joins as soon as one
  /// has ended, so that none waits for the longest of its batch. 0: all of them, as ever where
  /// somebody looks on.
  Index max_active = 0;
};

/// What a search throws at the step after it was told to stop.
struct SearchStopped {};

inline void throw_if_stopped(const std::atomic<bool>* stop) {
  if (stop != nullptr && stop->load(std::memory_order_relaxed)) throw SearchStopped();
}

/// Hypotheses of each sentence of a batch, best first.
using SearchResults = std::vector<std::vector<SearchHypothesis>>;

/// Most tokens that a translation of a source of `source_length` tokens may have, the end symbol
/// included: max_new_tokens, or without one 2 · source + 10; never more than the decoder's
/// positions.
Index max_generated_tokens(const DecodeConfig& decode, const Ensemble& models, Index source_length);

/// What the decoder begins with.
int decoder_start_token(const DecodeConfig& decode, const ModelConfig& model);

/// length ^ length_penalty, by which a hypothesis's sum is divided. InputError where that is 0 or
/// infinite as a float, so that scores could not be compared.
float length_penalty_divisor(Index length, float length_penalty);

/// InputError where a result's score is infinite or no number.
void require_finite_score(float score, float length_penalty);

/// sum / length ^ length_penalty, checked by both of the above.
float hypothesis_score(float sum, std::size_t length, float length_penalty);

/// Searches for every sentence of the batch, the longest first: hypotheses best first,
/// num_return_sequences of them. One beam is greedy search, as in `generate` (under a trace it is a
/// beam search of one beam, which finds the same). Of several models the mean log-probability
/// counts (translate/ensemble.h).
SearchResults search(const Ensemble& models, const PackedTokens& source, const DecodeConfig& decode,
                     const SearchContext& watch = {});

}  // namespace attn
