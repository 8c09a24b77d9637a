#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/files/descriptor.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "service/field_text.h"
#include "service/output_safety.h"
#include "text/tokenizer.h"

namespace attn {

namespace fs = std::filesystem;

namespace {
/// True if a file of that name belongs to a model or tokenizer in its directory.
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
  // Finds the nearest existing folder above the path, and the rest of the path.
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
    } else {  // stdout may have just created it
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

namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = "lock";
constexpr const char* kCheckpoints = "checkpoints";

/// Returns the names in a directory; none if it is missing.
std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw FieldError<SystemError>(
        FieldText(printable(directory) + ": cannot read the directory: " + error.message(),
                  "; check the path after ", Field{"out"}));
  }
  return names;
}

/// Returns the name of a file other than a run's lock; empty if there is none.
std::string first_file(const std::string& directory) {
  for (const std::string& name : names_in(directory)) {
    if (name != kLock || is_foreign_lock(directory)) return name;
  }
  return "";
}

/// Removes half-written files that a killed run left behind.
void remove_leftovers(const std::string& directory) {
  for (const std::string& name : names_in(directory)) {
    if (!target_of_temporary(name).empty()) remove_abandoned(directory + "/" + name);
  }
}

}  // namespace

RunDirectory::RunDirectory(const std::string& path, bool resume) : path_(path) {
  had_lock_ = file_exists(path_ + "/" + kLock);
  // A folder that does not belong to a run is refused before anything in it is touched. In a run's
  // folder, a run in progress is reported first.
  if (!contains_training_run(path_)) refuse_files(resume);
  made_ = std::make_unique<NewDirectories>(path_);
  lock_ = std::make_unique<RunLock>(path_);
  refuse_files(resume);
  was_empty_ = first_file(path_).empty();
}

RunDirectory::~RunDirectory() {
  if (begun_ || !was_empty_) return;
  std::error_code ignored;
  fs::remove_all(path_ + "/tokenizer", ignored);
  fs::remove(path_ + "/config.json", ignored);  // complete, if begin() failed after writing it
  if (!had_lock_) fs::remove(path_ + "/" + kLock, ignored);  // ours, because we hold the lock
}

void RunDirectory::refuse_files(bool resume) const {
  if (!directory_exists(path_)) return;
  const std::string found = first_file(path_);
  if (found.empty()) return;
  if (!resume) {
    throw FieldError<SystemError>(
        FieldText(printable(path_) + ": is not empty (it holds " + printable(found) + "); ",
                  Field{"resume"}, " goes on with a run, another ", Field{"out"}, " begins one"));
  }
  if (contains_training_run(path_)) return;
  throw FieldError<SystemError>(FieldText(printable(path_) + ": holds " + printable(found),
                                          ", and no run to resume; check the path after ",
                                          Field{"out"}));
}

bool RunDirectory::has_checkpoint() const {
  for (const std::string& name : names_in(path_ + "/" + kCheckpoints)) {
    if (target_of_temporary(name).empty()) return true;
  }
  return false;
}

void RunDirectory::begin(const std::optional<std::string>& config) {
  remove_leftovers(path_);
  remove_leftovers(path_ + "/model");
  remove_leftovers(path_ + "/checkpoints");
  if (config) write_file(path_ + "/config.json", *config);
  begun_ = true;
  made_->keep();
}

}  // namespace attn
