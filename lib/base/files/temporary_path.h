// Unfinished files and directories of a run. They are removed if the run ends early by an error or
// a signal. If the process dies, they are removed when their names are needed again.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn {

/// A file or directory made by this process and removed with the object unless keep() is called. It
/// is locked (flock) meanwhile, so that other processes can tell whether its owner is alive: a
/// process id says nothing about other machines and is reused.
class TemporaryPath {
 public:
  enum class Kind {
    file,
    folder,  ///< a directory, removed if it is empty
    tree,  ///< a directory removed with its content; a signal removes the files of its first level
  };

  /// Creates `path`, which must not exist. Returns null and sets errno on failure. A signal at any
  /// moment finds either nothing or a file that is registered for removal.
  static std::unique_ptr<TemporaryPath> make(Kind kind, const std::string& path, mode_t mode);

  /// Creates a file or tree next to `path`, under a name derived from it. A file of that name that
  /// a dead process left behind is removed first. Returns null and sets errno on failure.
  static std::unique_ptr<TemporaryPath> make_beside(Kind kind, const std::string& path,
                                                    mode_t mode);

  /// Creates a tree for files of this run alone in $TMPDIR or /tmp. Throws SystemError.
  static std::unique_ptr<TemporaryPath> make_working_directory();

  ~TemporaryPath();
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;

  Kind kind() const { return kind_; }
  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }  ///< open for writing, for a file
  void keep();  ///< called when the file is finished: renamed, or wanted as it is

 private:
  TemporaryPath(Kind kind, std::string path) : kind_(kind), path_(std::move(path)) {}
  bool create(mode_t mode);

  const Kind kind_;
  const std::string path_;  ///< never moves, because a signal handler reads it
  int descriptor_ = -1;
  bool made_ = false;
};

/// Creates a directory and its missing parents; without keep() the new ones are removed again.
class NewDirectories {
 public:
  /// Throws SystemError "PATH: cannot make the directory: REASON" naming `path`.
  explicit NewDirectories(const std::string& path);
  ~NewDirectories();
  NewDirectories(const NewDirectories&) = delete;
  NewDirectories& operator=(const NewDirectories&) = delete;

  void keep();

 private:
  NewDirectories() = default;

  std::vector<std::unique_ptr<TemporaryPath>> made_;  ///< outermost first
};

/// Returns the name of the target for which make_beside created the file `name`, as far as it was
/// not cut off; empty if `name` is not such a file.
std::string_view target_of_temporary(std::string_view name);

/// Removes what make_beside left at `path` if it belongs to this user and no process holds it.
/// Returns true if nothing is there any more.
bool remove_abandoned(const std::string& path);

/// Makes every thread stop creating files, for a signal handler that ends the process. This
/// function and the next one are async-signal-safe.
void stop_making_files() noexcept;

/// Removes all unfinished files and directories.
void remove_unfinished_files() noexcept;

}  // namespace attn
