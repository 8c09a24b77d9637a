// The training run: batches through the model, updates, validations, checkpoints and logs.
#pragma once

#include <atomic>
#include <memory>

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

}  // namespace attn
