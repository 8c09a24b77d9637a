// DIR/train.jsonl and DIR/probe.jsonl: logs that are appended to, and cut back when a run resumes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "record/training_curve.h"

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

}  // namespace attn
