// A training run that can be watched. It is kept in memory and runs as many updates at a time as
// requested; in between, its curve, maps and translations can be shown. Its numbers are those of
// run_training() with the same experiment.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/training_curve.h"
#include "service/api/api_handler.h"
#include "train/training_loop.h"

namespace attn {

/// Trains a model and provides it to requests; this is the model after the last update.
class LiveTraining : public ModelProvider {
 public:
  /// Reads an experiment file that names an existing tokenizer. Throws the errors of everything
  /// that it reads.
  explicit LiveTraining(const std::string& config);

  /// Runs the updates that `asked` requests, and returns the page's data of the run. {"updates":
  /// 20} runs that many updates, or fewer if the run ends; with 0 or without the key, no update is
  /// run. Throws UsageError for anything else.
  ///
  /// The data is the probe's record, and as "live" {"training": {"update", "updates", "finished",
  /// "losses": [[update, loss], …] of each update since the previous answer, "looks": [[update,
  /// loss, BLEU, chrF], …] of the validations since then, "text": the probe's own translation at
  /// this time, "weights": SHA-256 of all weights as little-endian floats}}.
  std::string answer(const Json& asked);

  const std::vector<std::string>& names() const override { return names_; }
  const ReadyModel& model(std::size_t number) override;

 private:
  void advance(std::uint64_t count);
  void validate_if_due();
  std::string training_json();

  TrainerSetup setup_;
  ReadyModel ready_;  ///< its transformer is null if the weights have changed since
  std::vector<std::string> names_;
  std::optional<TrainingLoop> updates_;
  std::optional<Validator> validator_;
  TrainingCurve unsent_;  ///< since the last answer
};

}  // namespace attn
