// No output takes the place of an input or of another output, however their names are spelled.
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
  /// stdout and stderr are outputs where they lead to files, stdin an input where `reads_stdin`.
  explicit FileGuard(bool reads_stdin = false);

  /// A file that `named` (a field, RECORDS) names. UsageError where stdout, stderr or an output
  /// leads into it.
  void read(const FieldText& named, const std::string& path);
  /// All files in a directory, as a model's or a tokenizer's. UsageError as read() where one of
  /// those that are read is meant.
  void read_all(const FieldText& named, const std::string& directory);

  /// UsageError where `path`, which `named` asks for, is read or written already.
  void write(const FieldText& named, const std::string& path);

 private:
  struct FileId {
    dev_t device = 0;
    ino_t inode = 0;
    std::string rest;  ///< below that folder, where nothing is there yet
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
  std::map<FileId, FieldText> inputs_;  ///< each with what names it
  std::map<FileId, Output> outputs_;    ///< each with what names it, and its path
};

// A directory that a command makes: it appears whole or not at all.

/// Returns the same path without folders that would be created only to be left again: x for
/// new/../x if `new` does not exist. Existing paths keep their meaning: after a link, .. is
/// another folder.
std::string normalize_output_path(const std::string& path);

/// Everything is written beside the final name, and commit() renames it. Without commit() (an
/// error, an exception, a signal) nothing is left behind, not even the parents that were created
/// for it.
class NewDirectory {
 public:
  /// SystemError where `path` is there already and is no empty directory, or cannot be made.
  explicit NewDirectory(const std::string& path);

  const std::string& temporary_path() const { return temporary_->path(); }  ///< until commit()

  /// Puts it in its place; where an empty directory is there, with its mode and owner.
  void commit();

 private:
  std::string path_;
  std::unique_ptr<NewDirectories> parents_;
  std::unique_ptr<TemporaryPath> temporary_;  ///< goes before its parents
};

// The directory of a training run: one run at a time, and never other files.

/// Until begin() nothing in it counts: where the start fails, what was made goes again.
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
  bool was_empty_ = false;  ///< but for a lock
  bool had_lock_ = false;
  bool begun_ = false;
  std::unique_ptr<RunLock> lock_;
};

}  // namespace attn
