// What a run has begun and not finished: files and folders that go again where it ends early, by an
// error, a signal, or, once their names are wanted again, by the end of its process.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attn {

/// A file or folder that this process made; it goes with the object unless kept. It is locked
/// (flock) meanwhile, so that others see whether its maker lives: a process number says nothing of
/// other machines, and is given out again.
class TemporaryPath {
 public:
  enum class Kind {
    file,
    folder,  ///< goes where it is empty
    tree,    ///< goes with all that is in it; a signal removes the files of its first level
  };

  /// Makes `path`, which must not exist. Null with errno where the system refuses. A signal finds
  /// either nothing or a file that it knows of.
  static std::unique_ptr<TemporaryPath> make(Kind kind, const std::string& path, mode_t mode);

  /// Makes a file or tree beside `path`, under a name that says whose it is; one of that name which
  /// a process left behind when it died is removed before. Null with errno.
  static std::unique_ptr<TemporaryPath> make_beside(Kind kind, const std::string& path,
                                                    mode_t mode);

  ~TemporaryPath();
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;

  Kind kind() const { return kind_; }
  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }  ///< of a file: open for writing
  void keep();                                    ///< it is finished: renamed, or wanted as it is

 private:
  TemporaryPath(Kind kind, std::string path) : kind_(kind), path_(std::move(path)) {}
  bool create(mode_t mode);

  const Kind kind_;
  const std::string path_;  ///< never moves: a signal reads it
  int descriptor_ = -1;
  bool made_ = false;
};

/// Makes a folder and its missing parents; without keep() those that were made go again.
class NewDirectories {
 public:
  /// SystemError "PATH: cannot make the directory: REASON" naming `path`.
  explicit NewDirectories(const std::string& path);
  ~NewDirectories();
  NewDirectories(const NewDirectories&) = delete;
  NewDirectories& operator=(const NewDirectories&) = delete;

  void keep();

 private:
  NewDirectories() = default;

  std::vector<std::unique_ptr<TemporaryPath>> made_;  ///< outermost first
};

/// The name of what make_beside was making when it left a file called `name` behind, as far as it
/// fits; empty where `name` is not one of its names.
std::string_view target_of_temporary(std::string_view name);

/// Removes what make_beside left at `path` where it belongs to this user and no process holds it.
/// True where nothing is there any more.
bool remove_abandoned(const std::string& path);

/// For a signal handler that ends the process: no thread begins anything new from now on.
/// Async-signal-safe, as the next one.
void stop_making_files() noexcept;

/// Removes all that is unfinished.
void remove_unfinished_files() noexcept;

}  // namespace attn
