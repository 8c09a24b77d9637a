// The training run: batches through the model, updates, validations, checkpoints and logs.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "config/train_config.h"
#include "model/transformer.h"
#include "train/corpus.h"
#include "train/run/training_listener.h"
#include "train/sampled_text.h"
#include "train/validation.h"

namespace attn {

/// Everything that a run needs, read and checked.
struct TrainerSetup {
  std::string directory;  ///< DIR; exists, and nobody else writes into it
  TrainConfig train;
  ModelConfig model;    ///< fits the tokenizer
  DecodeConfig decode;  ///< of the model that is kept
  /// Training begins with its weights, of the shape `model`; null: random ones from the seed.
  std::shared_ptr<const Transformer> start;
  std::string tokenizer_directory;
  Corpus corpus;
  std::optional<SampledText> sampled;  ///< the corpus' text, where each epoch cuts it anew
  std::optional<ParallelText> dev;
  std::string probe;         ///< sentence whose attention is recorded; empty: none
  std::string probe_target;  ///< its translation; empty: the model's own at the time
  Json identity;             ///< what a resumed run must share (run_identity.h)
  std::string title;         ///< of the curve
};

enum class TrainingEnd { finished, stopped };

class Trainer {
 public:
  /// `tokenizer` and `listener` outlive the trainer.
  Trainer(TrainerSetup setup, const Tokenizer& tokenizer, TrainingListener& listener);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Goes on from the newest checkpoint in DIR/checkpoints; false where there is none. InputError
  /// where it belongs to another config or other data, naming the difference.
  bool resume();

  /// Trains until the config says stop (finished), or until `stop` is not 0: then the update under
  /// way is finished and a checkpoint written (stopped). InputError where the loss is no longer
  /// finite, SystemError where the system refuses to write; checkpoints before stay.
  TrainingEnd run(const std::atomic<int>& stop);

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace attn
