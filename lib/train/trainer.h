// The training run: updates, validations, checkpoints and logs, the time that each takes, and the
// memory that the run will need.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "config/model_config.h"
#include "config/train_config.h"
#include "model/training/training_pass.h"
#include "train/corpus.h"
#include "train/run/end_reason.h"
#include "train/run/training_listener.h"
#include "train/training_loop.h"

namespace attn {

class Trainer {
 public:
  /// `tokenizer` and `listener` must outlive the trainer.
  Trainer(TrainerSetup setup, const Tokenizer& tokenizer, TrainingListener& listener);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Resumes from the newest checkpoint in DIR/checkpoints; returns false if there is none. Throws
  /// InputError if it belongs to another config or other data, naming the difference.
  bool resume();

  /// Trains until the config ends the run, or until `stop` is not 0: then finishes the current
  /// update and writes a checkpoint. The last line of train.jsonl names the reason. Throws
  /// InputError if the loss is no longer finite and SystemError if a write fails; earlier
  /// checkpoints stay.
  TrainingOutcome run(const std::atomic<int>& stop);

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

// A stopwatch that can be paused.

/// Paused at first.
class Stopwatch {
 public:
  void start() { running_since_ = Clock::now(); }
  void stop() {
    seconds_ = seconds();
    running_since_.reset();
  }
  double seconds() const {
    if (!running_since_) return seconds_;
    return seconds_ + std::chrono::duration<double>(Clock::now() - *running_since_).count();
  }
  /// Resets the time to 0 without pausing or starting.
  void reset() {
    seconds_ = 0;
    if (running_since_) start();
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<Clock::time_point> running_since_;
  double seconds_ = 0;
};

// The memory needs of a training run, computed before it begins.

/// Peak memory of a run in bytes; both members saturate at 2⁶⁴ − 1.
struct TrainingMemory {
  /// Weights, gradients, moments, averages, and prepared copies of the weights.
  std::uint64_t parameters = 0;
  /// Activations and scratch of the largest batch.
  std::uint64_t activations = 0;
};
TrainingMemory training_memory(const ModelConfig& model, const TrainConfig& train,
                               const BatchShape& largest);

/// Returns the batch shape assumed while the text is unknown: short sentences that fill
/// train.batch_tokens on both sides.
BatchShape expected_batch(const TrainConfig& train);

/// Returns an upper bound on every batch of an epoch over this corpus.
BatchShape largest_batch(const Corpus& corpus, const TrainConfig& train);

/// Returns an upper bound on every batch of any epoch with sampled segmentation: a batch's
/// sentences times the longest one never exceed train.batch_tokens.
BatchShape largest_batch(const SubwordSampledText& text, const TrainConfig& train);

/// Throws MemoryError, beginning with `where` and with the numbers, if this is more than the
/// process may still allocate.
void require_training_memory(const TrainingMemory& memory, const BatchShape& largest,
                             const std::string& where);

}  // namespace attn
