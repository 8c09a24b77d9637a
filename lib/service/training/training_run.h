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
  std::string from;  ///< a model to begin with; empty: random weights
  RequestedLanguages languages;
  bool resume = false;
  std::optional<int> threads;          ///< else the cores
  std::vector<std::string> overrides;  ///< of the config's keys: section.key=value
};

/// Writes what a run leaves beside its model. Who shows it to a person says the rest.
class RunListener : public TrainingListener {
 public:
  explicit RunListener(std::string directory) : directory_(std::move(directory)) {}

  std::string record_line(const AttentionRecord& record) override;
  void curve_changed(const TrainingCurve& curve) override;
  /// Whose model was kept; nothing where this run has not said.
  std::optional<std::uint64_t> kept_update() const { return kept_update_; }

 private:
  std::string directory_;
  std::optional<std::uint64_t> kept_update_;
};

/// The front end that requested a run.
class TrainingFrontEnd {
 public:
  virtual ~TrainingFrontEnd() = default;
  /// Everything has been read and checked; now `directory` is made.
  virtual std::unique_ptr<RunListener> on_start(const std::string& directory, LossNames names) = 0;
  /// Asked once, before the first update: the run stops with a checkpoint when it is not 0.
  virtual const std::atomic<int>& stop() = 0;
  /// Returns the front end's names of fields, for the run's messages.
  virtual FieldSpelling words() const { return option_name; }
};

/// Trains. Errors are those of everything that it reads and of Trainer; whatever was wrong before
/// begins() leaves no files.
TrainingOutcome run_training(const TrainingRequest& request, TrainingFrontEnd& owner);

}  // namespace attn
