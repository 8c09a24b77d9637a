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
#include "train/aligned_text.h"
#include "train/corpus.h"
#include "train/optimizer.h"
#include "train/run/checkpoint.h"
#include "train/run/end_reason.h"
#include "train/run/run_state.h"
#include "train/validation.h"

namespace attn {

/// The checked inputs of a run.
struct TrainerSetup {
  std::string directory;  ///< DIR; exists, and no other process writes into it
  TrainConfig train;
  ModelConfig model;    ///< matches the tokenizer
  DecodeConfig decode;  ///< for the model that is kept
  /// Languages of all texts. The model's start token and `decode`'s forced first token match the
  /// target language.
  LanguageChoice languages;
  /// Training begins with these weights, whose shape is `model`; null: random weights from the
  /// seed.
  std::shared_ptr<const Transformer> initial_model;
  std::string tokenizer_directory;
  Corpus corpus;
  std::optional<SubwordSampledText>
      sampled;                         ///< text of the corpus, if epochs sample the segmentation
  std::optional<AlignedText> aligned;  ///< if alignments guide the training
  std::optional<ParallelText> dev;
  std::string probe;         ///< sentence whose attention is recorded; empty: none
  std::string probe_target;  ///< its translation; empty: the model's own at that time
  Json identity;             ///< settings that a resumed run must share (run_identity())
  std::string title;         ///< of the curve
};

/// Returns the heads that the config guides. Throws InputError, beginning with `where`, if the
/// model does not have them.
GuidedHeads guided_heads(const TrainConfig& train, const ModelConfig& model,
                         const std::string& where);

/// Returns the validation settings of a run.
ValidationSettings validation_settings(const TrainerSetup& setup);

// The sequence of a run's updates from the first random weights on, without files, logs or
// listeners. The bits are the same whatever happens between two updates.

/// A validation of the model between two updates.
enum class ValidationType {
  none,
  early,  ///< before the first full validation: measured and recorded, nothing else
  full,   ///< decides which model is kept and when to stop
};

class TrainingLoop {
 public:
  /// `setup` must outlive the loop; the initial model is moved out of it.
  explicit TrainingLoop(TrainerSetup& setup);

  /// Prepares the epoch's segmentation and batches before its first update; they depend only on the
  /// setup and the epoch's number.
  void begin_epoch();

  /// Makes one update and returns the sum of its losses. Throws InputError if loss or weights are
  /// no longer finite; the message names the last checkpoint, `last_checkpoint` (0: none).
  LossSum update(std::uint64_t last_checkpoint);

  /// True if all batches of the epoch have been seen; continue with begin_next_epoch().
  bool epoch_ends() const { return state_.next_batch >= plan_.size(); }
  void begin_next_epoch();

  /// Returns why the config ends the run here, or nothing if the run continues. Limits on time are
  /// checked elsewhere.
  std::optional<EndReason> end_reason() const;
  bool finished() const { return end_reason().has_value(); }

  /// Returns the configured number of updates, or an estimate from the number of epochs that
  /// assumes that all have as many batches as this one.
  std::uint64_t total_updates() const;

  /// Returns the validation that is due after the last update.
  ValidationType validation_due() const;

  /// Returns the current model, averaged if averaging is on. It shares memory that the next update
  /// changes.
  Transformer model();

  /// Returns the arrays of a checkpoint's state, by reference. Call restore() after reading into
  /// them.
  std::vector<CheckpointArray> arrays();
  void restore(const RunState& state);
  /// Stores the number of averaged snapshots in the state.
  void before_checkpoint() { state_.snapshots = average_.snapshots(); }
  /// Adds a snapshot to the average at a checkpoint of the config, even if none is written.
  void average_checkpoint() { average_.after_checkpoint(model_.weights()); }

  RunState& state() { return state_; }
  std::span<const float> weights() { return model_.weights(); }  ///< as updated by the optimizer
  double gradient_norm() const { return gradient_norm_; }        ///< of the last update
  double learning_rate() const { return learning_rate_; }

 private:
  const Corpus& corpus() const { return setup_.sampled ? sampled_corpus_ : setup_.corpus; }
  [[noreturn]] void throw_non_finite(const LossSum& sum, std::uint64_t last_checkpoint) const;

  TrainerSetup& setup_;
  bool has_dev_or_probe_;  ///< there is something to validate or record
  TrainableModel model_;
  TrainingPass pass_;
  Adam adam_;
  WeightAverage average_;
  RunState state_;
  GuidedHeads guided_heads_;
  std::vector<std::vector<TokenLink>> links_;  ///< of each pair; empty: nothing is guided
  Corpus sampled_corpus_;        ///< in the current epoch's segmentation, if the setup samples
  std::vector<BatchPlan> plan_;  ///< of the current epoch
  TrainingBatch batch_;
  double gradient_norm_ = 0;
  double learning_rate_ = 0;
};

// The probe: a sentence that is recorded while the model learns.

/// Records the model after update `update` reading setup.probe with the translation
/// setup.probe_target or, if that is empty, the model's own. `tokenizer` must match the model.
AttentionRecord probe_record(const Transformer& model, const Tokenizer& tokenizer,
                             const TrainerSetup& setup, std::uint64_t update);

}  // namespace attn
