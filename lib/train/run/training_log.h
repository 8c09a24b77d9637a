// DIR/train.jsonl and DIR/probe.jsonl: logs that are appended to, and cut back when a run resumes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "record/training_curve.h"
#include "train/run/run_state.h"
#include "train/run/training_listener.h"
#include "train/validation.h"

namespace attn {

/// A file of lines that only grows, except when it is cut back to a checkpoint.
class AppendOnlyFile {
 public:
  /// Opens or creates; what lies beyond `keep_bytes` is cut off. InputError where the file is
  /// shorter than that, or where no line ends there (it was changed since the checkpoint);
  /// SystemError where the system refuses. A device (/dev/null) is never cut, and has no bytes.
  AppendOnlyFile(const std::string& path, std::uint64_t keep_bytes);
  ~AppendOnlyFile();
  AppendOnlyFile(const AppendOnlyFile&) = delete;
  AppendOnlyFile& operator=(const AppendOnlyFile&) = delete;

  /// Writes line and line end at once. SystemError where the system refuses (disk full): then no
  /// part of the line stays in the file.
  void append(std::string_view line);
  void sync();  ///< to the disk: before a checkpoint counts on it
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  bool regular_ = true;
  std::uint64_t bytes_ = 0;
};

/// The curve that a train.jsonl tells: its lines with "event": "train" (update, loss) and
/// "event": "validation" or "early" (update, loss, bleu, chrf, best; the scores may be absent:
/// early looks are validations of the curve). A figure that is null or absent is NaN. Other events
/// and keys are passed over; a line that is no JSON object, and one of these events without its
/// update, is an InputError with its number. An absent file is an empty curve. The title is left
/// empty.
TrainingCurve read_curve(const std::string& path);

/// The same of the file's content.
TrainingCurve parse_curve(std::string_view content, const std::string& path);

// What a run writes down as it goes: train.jsonl, probe.jsonl, the curve and the listener's lines.

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
