// DIR/train.jsonl and DIR/probe.jsonl: append-only logs that are truncated when a run resumes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "record/training_curve.h"
#include "train/run/end_reason.h"
#include "train/run/run_state.h"
#include "train/run/training_listener.h"
#include "train/validation.h"

namespace attn {

/// A file of lines that only grows, except when it is truncated to a checkpoint's state.
class AppendOnlyFile {
 public:
  /// Opens or creates the file and truncates it to `keep_bytes`. Throws InputError if the file is
  /// shorter or no line ends there (it was changed since the checkpoint), and SystemError if the
  /// system refuses. A device (/dev/null) is never truncated and has size 0.
  AppendOnlyFile(const std::string& path, std::uint64_t keep_bytes);
  ~AppendOnlyFile();
  AppendOnlyFile(const AppendOnlyFile&) = delete;
  AppendOnlyFile& operator=(const AppendOnlyFile&) = delete;

  /// Writes the line and its line end at once. Throws SystemError if the system refuses (disk
  /// full), without leaving a partial line in the file.
  void append(std::string_view line);
  void sync();  ///< flushes to disk, before a checkpoint relies on it
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  bool regular_ = true;
  std::uint64_t bytes_ = 0;
};

/// Reads the curve from a train.jsonl: lines with "event": "train" (update, loss) and "event":
/// "validation" or "early" (update, loss, bleu, chrf, best). Scores may be absent, and early
/// validations count as validations. A number that is null or absent becomes NaN. Ignores other
/// events and keys. Throws InputError with the line number for lines that are not JSON objects and
/// for these events without an update. A missing file gives an empty curve. Leaves the title empty.
TrainingCurve read_curve(const std::string& path);

/// Same for the file's content.
TrainingCurve parse_curve(std::string_view content, const std::string& path);

// The logs of a run in progress: train.jsonl, probe.jsonl, the curve and the listener's lines.

class TrainingLog {
 public:
  /// The listener must outlive the log.
  TrainingLog(std::string directory, std::string title, TrainingListener& listener);

  /// Opens both files, truncated to the state's lengths, and reads the curve back.
  void open(const RunState& state);

  /// Logs the updates since the last line; `metrics` has the rest.
  void train(const RunState& state, const UpdateMetrics& metrics, double gradient_norm);
  void epoch(const RunState& state);
  void validation(const RunState& state, const ValidationResult& result, bool best, double seconds);
  /// Logs a validation before the first full one, as its own event; it may lack scores and decides
  /// nothing.
  void early_validation(const RunState& state, const ValidationResult& result, double seconds);
  /// Logs why the run ended after its last update.
  void end(const RunState& state, EndReason reason);
  void probe(const AttentionRecord& record);
  /// Tells the listener to draw the curve's new points, with the best model marked; 0: none yet.
  void show_curve(std::uint64_t best_update);

  /// Flushes both files to disk and stores their lengths in the state.
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
