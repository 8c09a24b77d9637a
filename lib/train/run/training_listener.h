// The observer of a training run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "record/attention_record.h"
#include "record/training_curve.h"

namespace attn {

/// The metrics of one update, for display.
struct UpdateMetrics {
  std::uint64_t epoch = 1;
  std::uint64_t update = 0;
  std::uint64_t updates = 0;  ///< total number expected; 0: unknown
  double loss = 0;            ///< mean since the last log line
  double tokens_per_second = 0;
  double learning_rate = 0;
  std::optional<double> seconds_left;
  bool log = false;  ///< true if a log line was written
};

/// The results of a validation, for display.
struct ValidationMetrics {
  TrainingCurve::Validation point;  ///< its scores are NaN if none were computed
  double perplexity = 0;            ///< e^(loss without label smoothing)
  bool best = false;                ///< true if the model is kept
};

/// Observes a run. Implementations must not throw just because output is no longer read.
class TrainingListener {
 public:
  virtual ~TrainingListener() = default;
  virtual void updated(const UpdateMetrics& metrics) = 0;
  virtual void validated(const ValidationMetrics& metrics) = 0;
  virtual void say(const std::string& text) = 0;
  /// Returns the probe's record as a line for probe.jsonl.
  virtual std::string record_line(const AttentionRecord& record) = 0;
  /// Called after each validation to draw the curve.
  virtual void curve_changed(const TrainingCurve& curve) = 0;
};

}  // namespace attn
