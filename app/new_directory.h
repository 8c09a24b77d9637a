// A directory that a command makes: it appears whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attn {

/// Everything is written beside the final name, and commit() renames it there. Without commit() (an
/// error, a throw, a signal) nothing is left behind, nor are the parents that were made for it.
class NewDirectory {
 public:
  /// SystemError where `path` is there already and is no empty directory, or cannot be made.
  explicit NewDirectory(const std::string& path);
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  std::string writing() const { return temporary_.string(); }  ///< where to write until commit()

  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::vector<std::filesystem::path> made_;  ///< what did not exist before, innermost first
  bool committed_ = false;
};

}  // namespace attn
