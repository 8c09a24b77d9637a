// One run at a time in a folder.
#pragma once

#include <string>

namespace attn {

/// Whether a run has written into this directory: by what its lock says, or by a checkpoint.
bool contains_training_run(const std::string& directory);

/// Whether DIR/lock is there and says something that no run has written.
bool is_foreign_lock(const std::string& directory);

/// Holds DIR/lock (flock) while a run writes into DIR, which exists, and writes into it whose it
/// is. SystemError where another run has it. The file stays; only the holder of the lock may remove
/// it, and whoever had opened it before then opens and locks the new file.
class RunLock {
 public:
  explicit RunLock(const std::string& directory);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  void lock(const std::string& directory, const std::string& path);

  int descriptor_ = -1;
};

}  // namespace attn
