// Prevents outputs from replacing an input or another output, however their paths are written.
#pragma once

#include <sys/types.h>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "base/files/temporary_path.h"
#include "service/field_text.h"
#include "train/run/run_ownership.h"

namespace attn {

/// Knows all files that a command reads and writes before any is opened for writing. Files are the
/// same if their device and inode are equal; files that do not exist yet are the same if their
/// folder and name are equal. "" and "-" are not files. Pipes and devices may be named several
/// times, and so may stdout and stderr under their own names (/dev/stdout), to which output is
/// appended.
class FileGuard {
 public:
  /// Registers stdout and stderr as outputs if they lead to files, and stdin as an input if
  /// `reads_stdin`.
  explicit FileGuard(bool reads_stdin = false);

  /// Registers a file that is read; `named` says who named it (a field, RECORDS). Throws
  /// UsageError if stdout, stderr or an output leads into it.
  void read(const FieldText& named, const std::string& path);
  /// Registers all files in a directory of a model or a tokenizer. Throws UsageError like read().
  void read_all(const FieldText& named, const std::string& directory);

  /// Registers an output. Throws UsageError if `path`, which `named` requests, is already read or
  /// written.
  void write(const FieldText& named, const std::string& path);

 private:
  struct FileId {
    dev_t device = 0;
    ino_t inode = 0;
    std::string rest;  ///< rest of the path below that folder, which does not exist yet
    bool operator<(const FileId& other) const {
      return std::tie(device, inode, rest) < std::tie(other.device, other.inode, other.rest);
    }
  };
  static bool find(const std::string& path, FileId& place);
  static bool find(int descriptor, FileId& place);
  void take_input(const FileId& place, const FieldText& named);

  struct Output {
    FieldText name;
    bool own = false;  ///< stdout or stderr
  };
  std::map<FileId, FieldText> inputs_;  ///< each with the name of its origin
  std::map<FileId, Output> outputs_;    ///< each with the name of its origin, and its path
};

// A directory that a command creates: it appears complete or not at all.

/// Returns the same path without folders that would be created only to be left again: x for
/// new/../x if `new` does not exist. Existing paths keep their meaning: after a link, .. is
/// another folder.
std::string normalize_output_path(const std::string& path);

/// Everything is written beside the final name, and commit() renames it. Without commit() (an
/// error, an exception, a signal) nothing is left behind, not even the parents that were created
/// for it.
class NewDirectory {
 public:
  /// Throws SystemError if `path` exists and is not an empty directory, or cannot be created.
  explicit NewDirectory(const std::string& path);

  const std::string& temporary_path() const { return temporary_->path(); }  ///< until commit()

  /// Moves it to its final place. If there is an empty directory, it takes its mode and owner.
  void commit();

 private:
  std::string path_;
  std::unique_ptr<NewDirectories> parents_;
  std::unique_ptr<TemporaryPath> temporary_;  ///< destroyed before its parents
};

// The directory of a training run: one run at a time, and never other files.

/// Nothing in it is final until begin(). If the start fails, everything that was created is
/// removed.
class RunDirectory {
 public:
  /// Creates and locks the directory. Throws SystemError if another run writes there, if it is not
  /// empty and the run is new, or if it contains files but no sign of a run (the content of a
  /// run's lock, or a checkpoint), because resuming would overwrite those files.
  RunDirectory(const std::string& path, bool resume);
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  const std::string& path() const { return path_; }

  /// True if there is a checkpoint, complete or not.
  bool has_checkpoint() const;

  /// Begins training: writes config.json, unless it should stay unchanged, and removes
  /// half-written files that a killed run left.
  void begin(const std::optional<std::string>& config);

 private:
  void refuse_files(bool resume) const;

  std::string path_;
  std::unique_ptr<NewDirectories> made_;
  bool was_empty_ = false;  ///< except for a lock
  bool had_lock_ = false;
  bool begun_ = false;
  std::unique_ptr<RunLock> lock_;
};

}  // namespace attn
