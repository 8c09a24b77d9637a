// What a run writes down as it goes: train.jsonl, probe.jsonl, the curve and the listener's lines.
#pragma once

#include <optional>
#include <string>

#include "train/run/run_state.h"
#include "train/run/training_log.h"
#include "train/run/training_listener.h"
#include "train/validation.h"

namespace attn {

class TrainingLog {
 public:
  /// The listener outlives the journal.
  TrainingLog(std::string directory, std::string title, TrainingListener& listener);

  /// Opens both files, cut back to what the state has seen, and reads the curve again.
  void open(const RunState& state);

  /// One line for the updates since the last one; `figures` has the rest.
  void train(const RunState& state, const UpdateMetrics& metrics, double gradient_norm);
  void epoch(const RunState& state);
  void validation(const RunState& state, const ValidationResult& result, bool best, double seconds);
  /// A look before the first validation, an event of its own: it may have no scores, and decides
  /// nothing.
  void early_validation(const RunState& state, const ValidationResult& result, double seconds);
  void probe(const AttentionRecord& record);
  /// The curve has new points: the listener draws it, with the best model marked, where there is
  /// one (0: none yet).
  void show_curve(std::uint64_t best_update);

  /// Puts both files on the disk and their lengths into the state.
  void sync(RunState& state);

 private:
  Json add_validation(const char* event, const RunState& state, const ValidationResult& result);
  std::string path(const char* name) const { return directory_ + "/" + name; }

  std::string directory_;
  std::string title_;
  TrainingListener& listener_;
  std::optional<AppendOnlyFile> log_;
  std::optional<AppendOnlyFile> probe_;
  TrainingCurve curve_;
};

}  // namespace attn
