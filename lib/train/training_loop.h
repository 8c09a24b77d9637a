// What a training run is made of.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "config/train_config.h"
#include "model/transformer.h"
#include "train/corpus.h"
#include "train/sampled_text.h"
#include "train/validation.h"

namespace attn {

/// Everything that a run needs, read and checked.
struct TrainerSetup {
  std::string directory;  ///< DIR; exists, and nobody else writes into it
  TrainConfig train;
  ModelConfig model;    ///< fits the tokenizer
  DecodeConfig decode;  ///< of the model that is kept
  /// Of all texts. The model's start and the forced first token of `decode` agree with the
  /// target's.
  LanguageChoice languages;
  /// Training begins with its weights, of the shape `model`; null: random ones from the seed.
  std::shared_ptr<const Transformer> initial_model;
  std::string tokenizer_directory;
  Corpus corpus;
  std::optional<SubwordSampledText> sampled;  ///< the corpus' text, where each epoch cuts it anew
  std::optional<ParallelText> dev;
  std::string probe;         ///< sentence whose attention is recorded; empty: none
  std::string probe_target;  ///< its translation; empty: the model's own at the time
  Json identity;             ///< what a resumed run must share (run_identity.h)
  std::string title;         ///< of the curve
};

/// How a run's models are validated.
ValidationSettings validation_settings(const TrainerSetup& setup);

}  // namespace attn
