// The decoders of models that choose each token together.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "model/incremental_decoder.h"
#include "translate/ensemble.h"
#include "translate/search/logits_processor.h"

namespace attn {

/// What one row's tokens count: normal(row[token]) is the log-probability after processing.
struct RowScores {
  std::span<float> row;  ///< [V]
  LogSoftmax normal;
};

/// The decoders of all models, over sentences that come and go between steps.
class EnsembleDecoder {
 public:
  /// The observer is the first model's; null: nobody watches.
  explicit EnsembleDecoder(const Ensemble& ensemble, AttentionObserver* observer = nullptr);
  EnsembleDecoder(const EnsembleDecoder&) = delete;
  EnsembleDecoder& operator=(const EnsembleDecoder&) = delete;

  /// Encodes the sentences by each model, but by the first one where `encoded` is its result
  /// already, and has them join, as IncrementalDecoder::join().
  std::vector<Index> add_sentences(const PackedTokens& source, std::span<const SlotSize> sizes,
                          const EncodedSource* encoded = nullptr);
  void remove_sentence(Index slot);

  /// One token for each hypothesis, as IncrementalDecoder::step().
  void step(std::span<const int> tokens, std::span<const Index> parents,
            std::span<const Index> slots);

  /// Hypotheses of the last step × tokens × models: what scores() of all of them costs.
  Index size() const;

  /// The scores of hypothesis `row` of the last step, which continues `context`; to be asked once a
  /// row, on any thread.
  RowScores scores(const LogitsProcessor& processor, const LogitsContext& context, Index row);

 private:
  const Ensemble& ensemble_;
  AttentionObserver* observer_;
  std::deque<IncrementalDecoder> decoders_;  ///< a deque's elements stay where they are
  std::vector<MatrixRef> logits_;            ///< of the last step, [n, V] a model
};

}  // namespace attn
