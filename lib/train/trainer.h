// The training run: batches through the model, updates, validations, checkpoints and logs.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/train_config.h"
#include "record/attention_record.h"
#include "record/training_curve.h"
#include "train/corpus.h"
#include "train/run_state.h"
#include "train/validation.h"

namespace attn {

/// Everything that a run needs, read and checked.
struct TrainerSetup {
  std::string directory;  ///< DIR; exists, and nobody else writes into it
  TrainConfig train;
  ModelConfig model;    ///< fits the tokenizer
  DecodeConfig decode;  ///< of the model that is kept
  std::string tokenizer_directory;
  Corpus corpus;
  std::optional<ParallelText> dev;
  std::string probe;  ///< sentence whose attention is recorded; empty: none
  Json identity;      ///< what a resumed run must share (run_identity.h)
  std::string title;  ///< of the curve
};

/// The figures of one update, for a person.
struct UpdateFigures {
  std::uint64_t epoch = 1;
  std::uint64_t update = 0;
  std::uint64_t updates = 0;  ///< how many there will be; 0: unknown
  double loss = 0;            ///< mean since the last log line
  double tokens_per_second = 0;
  double learning_rate = 0;
  std::optional<double> seconds_left;
  bool log = false;  ///< a log line was written
};

/// Who watches a run. Nothing here may throw because nobody looks any more.
class TrainingListener {
 public:
  virtual ~TrainingListener() = default;
  virtual void updated(const UpdateFigures& figures) = 0;
  virtual void say(const std::string& text) = 0;
  /// The probe's record as the line that probe.jsonl gets.
  virtual std::string record_line(const AttentionRecord& record) = 0;
  /// After each validation: draw the curve.
  virtual void curve_changed(const TrainingCurve& curve) = 0;
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
