// What the dev part says of a model: its loss, and BLEU and chrF of searched text.
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
#include "train/corpus.h"
#include "translate/translator.h"

namespace attn {

/// Of searched text.
struct ValidationScores {
  BleuScore bleu;
  ChrfScore chrf;
};

struct ValidationResult {
  LossSum loss;  ///< label-smoothed, teacher-forced, without dropout
  std::optional<ValidationScores> scores;
};

/// A model's loss on a corpus, over loss_classes() (model/layers.h).
LossSum corpus_loss(const Transformer& model, const Corpus& corpus, float label_smoothing);

/// Translations of all lines, in their order; nothing where `stop` became other than 0 in between.
std::optional<std::vector<std::string>> translate_dev_lines(const Translator& translator,
                                                            const std::vector<std::string>& lines,
                                                            const std::atomic<int>& stop);

/// How models are validated.
struct ValidationSettings {
  DecodeConfig decode;
  LanguageChoice languages;
  std::size_t max_tokens = 0;  ///< longer pairs count for the scores only
  float label_smoothing = 0;
};

class Validator {
 public:
  /// The tokenizer outlives the validator. InputError where no pair is left for the loss.
  Validator(ParallelText dev, const Tokenizer& tokenizer, ValidationSettings settings);

  /// The loss on the dev part. InputError naming the model where it is not finite.
  ValidationResult compute_loss(const Transformer& model) const;

  /// Loss and scores; nothing where `stop` became other than 0 in between. InputError naming the
  /// model where its loss or a translation's logits are not finite.
  std::optional<ValidationResult> run(const Transformer& model, const std::atomic<int>& stop) const;

 private:
  ParallelText text_;
  Corpus corpus_;
  const Tokenizer& tokenizer_;
  ValidationSettings settings_;
};

}  // namespace attn
