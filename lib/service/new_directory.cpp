#include "service/new_directory.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/files/descriptor.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "service/field_text.h"

namespace attn {

namespace fs = std::filesystem;

std::string normalize_output_path(const std::string& path) {
  fs::path there;
  fs::path missing;
  std::error_code error;
  for (const fs::path& part : fs::path(path)) {
    if (missing.empty() && fs::exists(there / part, error)) {
      there /= part;
    } else {
      missing /= part;
    }
  }
  return missing.empty() ? path : (there / missing.lexically_normal()).string();
}

NewDirectory::NewDirectory(const std::string& path) {
  fs::path whole = fs::path(path).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  path_ = resolve_links(whole.string());
  struct stat status = {};
  const bool exists = stat(path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) throw_system_error(path, "cannot make the directory", errno);
  std::error_code error;
  if (exists && !(S_ISDIR(status.st_mode) && fs::is_empty(path_, error))) {
    throw FieldError<SystemError>(FieldText(printable(path),
                                            ": exists already and is not an empty directory; give ",
                                            Field{"out"}, " another name"));
  }
  const std::string parent = fs::path(path_).parent_path().string();
  if (!parent.empty()) parents_ = std::make_unique<NewDirectories>(parent);
  temporary_ = TemporaryPath::make_beside(TemporaryPath::Kind::tree, path_, exists ? 0700 : 0777);
  if (!temporary_) throw_system_error(path, "cannot make the directory", errno);
  if (exists && temporary_->descriptor() >= 0) {
    copy_mode_and_owner(temporary_->descriptor(), status, path);
  }
}

void NewDirectory::commit() {
  if (rename(temporary_->path().c_str(), path_.c_str()) != 0) {
    throw_system_error(path_, "cannot rename into place", errno);
  }
  temporary_->keep();
  if (parents_) parents_->keep();
  sync_directory_of(path_);
}

}  // namespace attn
