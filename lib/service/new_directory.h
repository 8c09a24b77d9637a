// A directory that a command makes: it appears whole or not at all.
#pragma once

#include <memory>
#include <string>

#include "base/files/temporary_path.h"

namespace attn {

/// The same place by a way on which no folder is made that nobody wants: x of new/../x, where new
/// is not there. What is there keeps its way: behind a link, .. is another folder.
std::string normalize_output_path(const std::string& path);

/// Everything is written beside the final name, and commit() renames it there. Without commit() (an
/// error, a throw, a signal) nothing is left behind, nor are the parents that were made for it.
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

}  // namespace attn
