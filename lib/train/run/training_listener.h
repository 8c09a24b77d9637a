// The interface through which a training run reports its progress.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "record/attention_record.h"
#include "record/training_curve.h"

namespace attn {

/// The figures of one update, for a person.
struct UpdateMetrics {
  std::uint64_t epoch = 1;
  std::uint64_t update = 0;
  std::uint64_t updates = 0;  ///< how many there will be; 0: unknown
  double loss = 0;            ///< mean since the last log line
  double tokens_per_second = 0;
  double learning_rate = 0;
  std::optional<double> seconds_left;
  bool log = false;  ///< a log line was written
};

/// What a look at the dev part found, for a person.
struct ValidationMetrics {
  TrainingCurve::Validation point;  ///< its scores are NaN where none were taken
  double perplexity = 0;            ///< e^(loss without label smoothing)
  bool best = false;                ///< the model is kept
};

/// Who watches a run. Nothing here may throw because nobody looks any more.
class TrainingListener {
 public:
  virtual ~TrainingListener() = default;
  virtual void updated(const UpdateMetrics& metrics) = 0;
  virtual void validated(const ValidationMetrics& metrics) = 0;
  virtual void say(const std::string& text) = 0;
  /// The probe's record as the line that probe.jsonl gets.
  virtual std::string record_line(const AttentionRecord& record) = 0;
  /// After each validation: draw the curve.
  virtual void curve_changed(const TrainingCurve& curve) = 0;
};

}  // namespace attn
