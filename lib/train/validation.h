// Validation on the dev set: loss, BLEU and chrF.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "config/decode_config.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "model/transformer.h"
#include "nn/cross_entropy.h"
#include "text/tokenizer.h"
#include "train/corpus.h"

namespace attn {

/// Scores of the translations found by beam search.
struct ValidationScores {
  BleuScore bleu;
  ChrfScore chrf;
};

struct ValidationResult {
  LossSum loss;  ///< label-smoothed, teacher-forced, without dropout
  std::optional<ValidationScores> scores;
};

/// Returns a model's loss on a corpus, over loss_classes() (model/layers.h).
LossSum corpus_loss(const Transformer& model, const Corpus& corpus, float label_smoothing);

/// Settings for validation.
struct ValidationSettings {
  DecodeConfig decode;
  LanguageChoice languages;
  std::size_t max_tokens = 0;  ///< longer pairs count only for the scores
  float label_smoothing = 0;
};

class Validator {
 public:
  /// The tokenizer must outlive the validator. Throws InputError if no pair is left for the loss.
  Validator(ParallelText dev, const Tokenizer& tokenizer, ValidationSettings settings);

  /// Computes the loss on the dev set. Throws InputError naming the model if it is not finite.
  ValidationResult compute_loss(const Transformer& model) const;

  /// Computes loss and scores; returns nothing if `stop` became nonzero meanwhile. Throws
  /// InputError naming the model if its loss or a translation's logits are not finite.
  std::optional<ValidationResult> run(const Transformer& model, const std::atomic<int>& stop) const;

 private:
  ParallelText text_;
  Corpus corpus_;
  const Tokenizer& tokenizer_;
  ValidationSettings settings_;
};

}  // namespace attn
