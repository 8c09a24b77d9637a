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

/// A model's loss on a corpus. Padding, the target's last id, is no class.
LossSum corpus_loss(const Transformer& model, const Corpus& corpus, float label_smoothing);

/// Translations of all lines, in their order; nothing where `stop` became other than 0 in between.
std::optional<std::vector<std::string>> translate_lines(const Transformer& model,
                                                        const Tokenizer& tokenizer,
                                                        const DecodeConfig& decode,
                                                        const std::vector<std::string>& lines,
                                                        const std::atomic<int>& stop);

class Validator {
 public:
  /// The tokenizer outlives the validator. Pairs longer than max_tokens count for the scores
  /// only. InputError where no pair is left for the loss.
  Validator(ParallelText dev, const Tokenizer& tokenizer, DecodeConfig decode,
            std::size_t max_tokens, float label_smoothing);

  /// The loss on the dev part. InputError naming the model where it is not finite.
  ValidationResult loss_of(const Transformer& model) const;

  /// Loss and scores; nothing where `stop` became other than 0 in between. InputError naming the
  /// model where its loss or a translation's logits are not finite.
  std::optional<ValidationResult> run(const Transformer& model, const std::atomic<int>& stop) const;

 private:
  ParallelText text_;
  Corpus corpus_;
  const Tokenizer& tokenizer_;
  DecodeConfig decode_;
  float label_smoothing_;
};

}  // namespace attn
