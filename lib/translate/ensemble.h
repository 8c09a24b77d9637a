// Several models that choose each token together.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "model/incremental_decoder.h"
#include "model/transformer.h"
#include "text/tokenizer.h"
#include "translate/search/logits_processor.h"

namespace attn {

struct SearchWatch;  // search.h

/// Models of one vocabulary; their shapes may differ. A model alone is one, too. Each token is
/// chosen by the mean of the models' log-probabilities (the geometric mean of their probabilities,
/// not renormalised), each processed as for that model alone: mean_m log p_m(token).
class Ensemble {
 public:
  /// One model, which outlives it.
  Ensemble(const Transformer& model) : models_{&model} {}  // NOLINT(google-explicit-constructor)

  /// One model or more, which outlive it. InputError naming two whose vocabularies' sizes or
  /// special ids differ.
  explicit Ensemble(std::vector<const Transformer*> models);

  const std::vector<const Transformer*>& models() const { return models_; }

  /// The first model's: vocabularies and special ids are those of all.
  const ModelConfig& config() const { return models_.front()->config(); }

  /// The fewest positions of any model.
  Index max_positions() const;
  Index max_decoder_positions() const;

  /// What messages call it: the models' names.
  std::string name() const;

 private:
  std::vector<const Transformer*> models_;
};

/// InputError naming both models and the first piece in which their vocabularies differ.
void require_same_vocabulary(const Tokenizer& first, const std::string& first_name,
                             const Tokenizer& other, const std::string& other_name);

/// What one row's tokens count: normal(row[token]) is the log-probability after processing.
struct RowScores {
  std::span<float> row;  ///< [V]
  RowNormaliser normal;
};

/// The decoders of all models over one batch, a step at a time.
class EnsembleDecoder {
 public:
  /// Encodes the batch by each model, but by the first one where `watch` has its result already.
  /// `rows` and `steps` as in IncrementalDecoder; the observer is the first model's.
  EnsembleDecoder(const Ensemble& ensemble, const PackedTokens& source, Index rows, Index steps,
                  const SearchWatch& watch);
  EnsembleDecoder(const EnsembleDecoder&) = delete;
  EnsembleDecoder& operator=(const EnsembleDecoder&) = delete;

  /// One token for each hypothesis, as IncrementalDecoder::step().
  void step(std::span<const int> tokens, std::span<const Index> parents,
            std::span<const Index> sentences);

  /// Hypotheses of the last step × tokens × models: what scores() of all of them costs.
  Index size() const;
  /// Instead of the models' own start symbol.
  void start_with(int id) { start_ = id; }

  /// The scores of hypothesis `row` of the last step, which continues `context` (its start symbol
  /// is the decoders'); to be asked once a row, on any thread.
  RowScores scores(const LogitsProcessor& processor, RowContext context, Index row);

 private:
  int start_;                          ///< the decoders' start symbol
  std::deque<EncodedSource> sources_;  ///< a deque's elements stay where they are
  std::deque<IncrementalDecoder> decoders_;
  std::vector<MatrixRef> logits_;  ///< of the last step, [n, V] a model
};

}  // namespace attn
