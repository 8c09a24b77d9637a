// The directory of a training run: one run at a time, and never somebody else's files.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/files/temporary_path.h"
#include "train/run/run_ownership.h"

namespace attn {

/// Until begin() nothing in it counts: where the start fails, what was made goes again.
class RunDirectory {
 public:
  /// Makes and locks it. SystemError where another run writes there, where it is not empty and the
  /// run is a new one, and where it holds files and no mark of a run (what a run writes into its
  /// lock, or a checkpoint): to resume there would overwrite somebody else's.
  RunDirectory(const std::string& path, bool resume);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::string& path() const { return path_; }

  /// Whether a checkpoint is there, whole or not.
  bool has_checkpoint() const;

  /// Training begins: writes config.json, where it is not to stay as it is, and takes away
  /// half-written files that a killed run left.
  void begin(const std::optional<std::string>& config);

 private:
  void refuse_files(bool resume) const;

  std::string path_;
  std::unique_ptr<NewDirectories> made_;
  bool was_empty_ = false;  ///< but for a lock
  bool had_lock_ = false;
  bool begun_ = false;
  std::unique_ptr<RunLock> lock_;
};

}  // namespace attn
