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
#include "train/run/training_listener.h"
#include "train/training_loop.h"

namespace attn {

enum class TrainingOutcome { finished, stopped };

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
  TrainingOutcome run(const std::atomic<int>& stop);

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

// Time that is measured with breaks.

/// Stands still at first.
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
  /// Begins at 0; goes on where it was going.
  void reset() {
    seconds_ = 0;
    if (running_since_) start();
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<Clock::time_point> running_since_;
  double seconds_ = 0;
};

// How much memory a training run will take, known before it begins.

/// Bytes at the peak of a run; both saturate at 2⁶⁴ − 1.
struct TrainingMemory {
  /// Weights, gradients, moments, averages, and the products prepared from the weights.
  std::uint64_t parameters = 0;
  /// Activations and scratch of the largest batch.
  std::uint64_t activations = 0;
};
TrainingMemory training_memory(const ModelConfig& model, const TrainConfig& train,
                               const BatchShape& largest);

/// A batch of short sentences that fills train.batch_tokens on both sides: what is known before the
/// text is.
BatchShape expected_batch(const TrainConfig& train);

/// At least every batch of an epoch over this corpus.
BatchShape largest_batch(const Corpus& corpus, const TrainConfig& train);

/// At least every batch of any epoch that cuts the text anew: whatever the cuts, a batch's
/// sentences times its longest one are at most train.batch_tokens.
BatchShape largest_batch(const SubwordSampledText& text, const TrainConfig& train);

/// MemoryError, beginning with `where` and with the figures, where that is more than this process
/// may still allocate.
void require_training_memory(const TrainingMemory& memory, const BatchShape& largest,
                             const std::string& where);

}  // namespace attn
