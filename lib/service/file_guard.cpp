#include "service/file_guard.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "text/tokenizer.h"

namespace attn {

namespace fs = std::filesystem;

namespace {
/// Whether a file of that name belongs to the model or tokenizer whose directory it is in.
bool is_model_file(const std::string& name) {
  if (name == "config.json" || name == "generation_config.json") return true;
  if (name.ends_with(".safetensors") || name.ends_with(".bin") || name.ends_with(".index.json")) {
    return true;
  }
  return std::ranges::find(tokenizer_files(), name) != tokenizer_files().end();
}
}  // namespace

FileGuard::FileGuard(bool reads_stdin) {
  FileId place;
  if (find(STDOUT_FILENO, place)) outputs_.emplace(place, Output{"stdout", true});
  if (find(STDERR_FILENO, place)) outputs_.emplace(place, Output{"stderr", true});
  if (reads_stdin && find(STDIN_FILENO, place)) take_input(place, "stdin");
}

bool FileGuard::find(int descriptor, FileId& place) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  place = {status.st_dev, status.st_ino, ""};
  return true;
}

bool FileGuard::find(const std::string& path, FileId& place) {
  if (path.empty() || path == "-") return false;
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) {
    place = {status.st_dev, status.st_ino, ""};
    return S_ISREG(status.st_mode);
  }
  // The nearest folder above that is there, and the way down from it.
  fs::path folder = fs::path(resolve_links(path)).lexically_normal();
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

void FileGuard::read(const FieldText& named, const std::string& path) {
  FileId place;
  if (find(path, place)) take_input(place, named);
}

void FileGuard::take_input(const FileId& place, const FieldText& named) {
  const auto output = outputs_.find(place);
  if (output != outputs_.end()) {
    refuse_field(output->second.name, " leads into the file of ", named, "; give it another name");
  }
  inputs_.emplace(place, named);
}

void FileGuard::read_all(const FieldText& named, const std::string& directory) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    FileId place;
    if (!find(entry->path().string(), place)) continue;
    if (is_model_file(entry->path().filename().string())) {
      take_input(place, named);
    } else {  // stdout may have made it just now
      inputs_.emplace(place, named);
    }
  }
}

void FileGuard::write(const FieldText& named, const std::string& path) {
  FileId place;
  if (!find(path, place)) return;
  const FieldText name(named, " " + printable(path));
  const auto input = inputs_.find(place);
  if (input != inputs_.end()) {
    refuse_field(name, " would overwrite the file of ", input->second, "; give it another name");
  }
  const auto [output, is_new] = outputs_.emplace(place, Output{name});
  if (!is_new && !(output->second.own && is_stream_path(path))) {
    refuse_field(output->second.name, " and ", name, " name the same file; give each its own");
  }
}

}  // namespace attn
