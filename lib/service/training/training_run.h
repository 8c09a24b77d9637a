// A training run from an experiment file, in a directory that it owns: the work of `train`,
// independent of the front end.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "service/field_text.h"
#include "service/model/languages.h"
#include "service/training/training_lines.h"
#include "train/trainer.h"

namespace attn {

struct TrainingRequest {
  std::string config;
  std::string out;
  std::string from;  ///< a model directory to start from; empty: random weights
  RequestedLanguages languages;
  bool resume = false;
  std::optional<int> threads;          ///< default: the number of cores
  std::vector<std::string> overrides;  ///< overrides of the config's keys: section.key=value
};

/// Writes a run's files other than its model. A front end adds the display.
class RunListener : public TrainingListener {
 public:
  explicit RunListener(std::string directory) : directory_(std::move(directory)) {}

  std::string record_line(const AttentionRecord& record) override;
  void curve_changed(const TrainingCurve& curve) override;
  /// Returns the update of the saved model; nothing if this run has not saved one.
  std::optional<std::uint64_t> kept_update() const { return kept_update_; }

 private:
  std::string directory_;
  std::optional<std::uint64_t> kept_update_;
};

/// The front end that requested a run.
class TrainingFrontEnd {
 public:
  virtual ~TrainingFrontEnd() = default;
  /// Called when everything has been read and checked, before `directory` is created.
  virtual std::unique_ptr<RunListener> on_start(const std::string& directory, LossNames names) = 0;
  /// Called once, before the first update. The run stops with a checkpoint when the value is not
  /// 0.
  virtual const std::atomic<int>& stop() = 0;
  /// Returns the front end's names of fields, for the run's messages.
  virtual FieldSpelling words() const { return option_name; }
};

/// Runs the training. Throws the errors of everything that it reads and of Trainer; errors before
/// begins() leave no files.
TrainingOutcome run_training(const TrainingRequest& request, TrainingFrontEnd& owner);

}  // namespace attn
