// The setup of a training run, the loop of its updates, and the probe: a sentence whose attention
// is recorded during training.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "config/train_config.h"
#include "model/training/training_pass.h"
#include "model/transformer.h"
#include "record/attention_record.h"
#include "train/corpus.h"
#include "train/optimizer.h"
#include "train/run/checkpoint.h"
#include "train/run/run_state.h"
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

// The updates of a run, one after the other, from the first random weights on: no file, no log, and
// nobody who looks. Whoever asks for them between two others' doings gets the same bits.

/// A look at the model between two updates.
enum class ValidationType {
  none,
  early,  ///< before the first validation: measured and recorded, nothing else
  full,   ///< a validation: decides which model is kept, and when to stop
};

class TrainingLoop {
 public:
  /// `setup` outlives it; the model to begin with is taken out of it.
  explicit TrainingLoop(TrainerSetup& setup);

  /// The epoch's cuts and batches, before the first update: they depend on nothing but the setup
  /// and the epoch's number.
  void begin_epoch();

  /// One update; the sum of its losses. InputError where loss or weights are no longer finite; it
  /// says which checkpoint is kept, `checkpointed`, 0 being none.
  LossSum update(std::uint64_t last_checkpoint);

  /// Whether all of an epoch's batches were seen; begin_next_epoch() goes on.
  bool epoch_ends() const { return state_.next_batch >= plan_.size(); }
  void begin_next_epoch();

  /// Whether the config ends the run here.
  bool finished() const;

  /// By updates, or as many as the epochs will have if all have as many batches as this one.
  std::uint64_t total_updates() const;

  /// What is due after the last update.
  ValidationType validation_due() const;

  /// The model as it is now: the average where there is one, in the memory that the next update
  /// changes.
  Transformer model();

  /// A checkpoint's state and arrays, the latter where they lie; restore() after they were read.
  std::vector<CheckpointArray> arrays();
  void restore(const RunState& state);
  /// The number of averaged snapshots goes into the state, too.
  void before_checkpoint() { state_.snapshots = average_.snapshots(); }
  /// Where the config asks for a checkpoint, though none may be written.
  void average_checkpoint() { average_.after_checkpoint(model_.weights()); }

  RunState& state() { return state_; }
  std::span<const float> weights() { return model_.weights(); }  ///< that the optimizer moves
  double gradient_norm() const { return gradient_norm_; }        ///< of the last update
  double learning_rate() const { return learning_rate_; }

 private:
  const Corpus& corpus() const { return setup_.sampled ? sampled_corpus_ : setup_.corpus; }
  [[noreturn]] void throw_non_finite(const LossSum& sum, std::uint64_t last_checkpoint) const;

  TrainerSetup& setup_;
  bool has_dev_or_probe_;  ///< there is something to look at
  TrainableModel model_;
  TrainingPass pass_;
  Adam adam_;
  WeightAverage average_;
  RunState state_;
  Corpus sampled_corpus_;        ///< as the current epoch has cut it, where the setup samples
  std::vector<BatchPlan> plan_;  ///< of the epoch that is going on
  TrainingBatch batch_;
  double gradient_norm_ = 0;
  double learning_rate_ = 0;
};

// The sentence that is watched while a model learns.

/// Its record by the model after update `update`: setup.probe reading setup.probe_target, or, where
/// that is empty, with the model's own translation. `tokenizer` fits the model.
AttentionRecord probe_record(const Transformer& model, const Tokenizer& tokenizer,
                             const TrainerSetup& setup, std::uint64_t update);

}  // namespace attn
