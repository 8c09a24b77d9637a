#include "file_guard.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"

namespace attn {

namespace fs = std::filesystem;

FileGuard::FileGuard(bool reads_stdin) {
  if (reads_stdin) take_stream(STDIN_FILENO, "stdin", inputs_);
  take_stream(STDOUT_FILENO, "stdout", outputs_);
  take_stream(STDERR_FILENO, "stderr", outputs_);
}

void FileGuard::take_stream(int descriptor, const char* name, std::map<Place, std::string>& known) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return;
  known.emplace(Place{status.st_dev, status.st_ino, ""}, name);
}

bool FileGuard::find(const std::string& path, Place& place) {
  if (path.empty() || path == "-" || is_stream_path(path)) return false;
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) {
    place = {status.st_dev, status.st_ino, ""};
    return S_ISREG(status.st_mode);
  }
  // The nearest folder above that is there, and the way down from it.
  fs::path folder = fs::path(behind_links(path)).lexically_normal();
  fs::path rest;
  while (!folder.empty() && stat(folder.c_str(), &status) != 0) {
    rest = rest.empty() ? folder.filename() : folder.filename() / rest;
    if (folder == folder.parent_path()) return false;
    folder = folder.parent_path();
  }
  if (folder.empty() && stat(".", &status) != 0) return false;
  place = {status.st_dev, status.st_ino, rest.string()};
  return true;
}

void FileGuard::read(const std::string& option, const std::string& path) {
  Place place;
  if (find(path, place)) inputs_.emplace(place, option);
}

void FileGuard::read_all(const std::string& option, const std::string& directory) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    read(option, entry->path().string());
  }
}

void FileGuard::write(const std::string& option, const std::string& path) {
  Place place;
  if (!find(path, place)) return;
  const std::string name = fmt::format("{} {}", option, printable(path));
  const auto input = inputs_.find(place);
  if (input != inputs_.end()) {
    throw UsageError("{} would overwrite the file of {}; give it another name", name,
                     input->second);
  }
  const auto [output, is_new] = outputs_.emplace(place, name);
  if (!is_new) {
    throw UsageError("{} and {} name the same file; give each its own", output->second, name);
  }
}

}  // namespace attn
