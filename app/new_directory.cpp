#include "new_directory.h"

#include <unistd.h>

#include <system_error>

#include "base/error.h"
#include "stop_signal.h"

namespace attn {

namespace fs = std::filesystem;

NewDirectory::NewDirectory(const std::string& path) : path_(fs::path(path).lexically_normal()) {
  if (!path_.has_filename()) path_ = path_.parent_path();
  std::error_code error;
  if (fs::exists(path_, error) && !(fs::is_directory(path_, error) && fs::is_empty(path_, error))) {
    throw SystemError("{}: exists already and is not an empty directory; give --out another name",
                      path);
  }
  temporary_ = path_;
  temporary_ += fmt::format(".tmp-{}", getpid());
  for (fs::path p = temporary_; !p.empty() && !fs::exists(p, error); p = p.parent_path()) {
    made_.push_back(p);
  }
  remove_on_stop(temporary_.string());
  if (!fs::create_directories(temporary_, error) || error) {
    throw SystemError("{}: cannot make the directory: {}; check the path after --out", path,
                      error.message());
  }
}

NewDirectory::~NewDirectory() {
  forget_on_stop(temporary_.string());
  std::error_code ignored;
  if (committed_) return;
  fs::remove_all(temporary_, ignored);
  for (const fs::path& path : made_) fs::remove(path, ignored);  // parents made for it, if empty
}

void NewDirectory::commit() {
  std::error_code error;
  fs::rename(temporary_, path_, error);
  if (error) throw SystemError("{}: cannot rename into place: {}", path_.string(), error.message());
  committed_ = true;
}

}  // namespace attn
