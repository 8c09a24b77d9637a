#include "service/training/run_directory.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "service/field_text.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = "lock";
constexpr const char* kCheckpoints = "checkpoints";

/// The names in a directory; none where it is missing.
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

/// A file that is no run's lock; empty where there is none.
std::string first_file(const std::string& directory) {
  for (const std::string& name : names_in(directory)) {
    if (name != kLock || is_foreign_lock(directory)) return name;
  }
  return "";
}

/// Half-written files that a killed run left.
void remove_leftovers(const std::string& directory) {
  for (const std::string& name : names_in(directory)) {
    if (!target_of_temporary(name).empty()) remove_abandoned(directory + "/" + name);
  }
}

}  // namespace

RunDirectory::RunDirectory(const std::string& path, bool resume) : path_(path) {
  had_lock_ = file_exists(path_ + "/" + kLock);
  // A folder that is no run's is refused before anything in it is touched; in one that is, a run
  // that is under way is told first.
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
  fs::remove(path_ + "/config.json", ignored);  // whole, where begin() failed behind it
  if (!had_lock_) fs::remove(path_ + "/" + kLock, ignored);  // ours as long as it is locked
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
