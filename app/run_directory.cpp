#include "run_directory.h"

#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"

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
    throw SystemError("{}: cannot read the directory: {}; check the path after --out", directory,
                      error.message());
  }
  return names;
}

/// A file that is no lock; empty where there is none.
std::string first_file(const std::string& directory) {
  for (const std::string& name : names_in(directory)) {
    if (name != kLock) return name;
  }
  return "";
}

void remove_leftovers(const std::string& directory) {
  for (const std::string& name : names_in(directory)) {
    std::error_code ignored;
    if (!target_of_temporary(name).empty()) fs::remove(fs::path(directory) / name, ignored);
  }
}

}  // namespace

RunDirectory::RunDirectory(const std::string& path, bool resume) : path_(path) {
  had_lock_ = file_exists(path_ + "/" + kLock);
  // A folder without a lock is refused before anything in it is touched.
  if (!had_lock_) refuse_files(resume);
  make();
  try {
    lock_ = std::make_unique<RunLock>(path_);
  } catch (const SystemError&) {
    std::error_code ignored;
    for (const fs::path& made : made_) fs::remove(made, ignored);
    throw;
  }
  refuse_files(resume);
  was_empty_ = first_file(path_).empty();
}

RunDirectory::~RunDirectory() {
  if (begun_ || !was_empty_) return;
  const fs::path directory = path_;
  std::error_code ignored;
  fs::remove_all(directory / "tokenizer", ignored);
  fs::remove_all(directory / "tokenizer.tmp", ignored);
  if (!had_lock_) fs::remove(directory / kLock, ignored);  // ours as long as it is locked
  for (const fs::path& made : made_) fs::remove(made, ignored);
}

void RunDirectory::make() {
  std::error_code error;
  fs::path whole = fs::path(path_).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  for (fs::path p = whole; !p.empty() && !fs::exists(p, error); p = p.parent_path()) {
    made_.push_back(p);
  }
  fs::create_directories(path_, error);
  if (error) {
    throw SystemError("{}: cannot make the directory: {}; check the path after --out", path_,
                      error.message());
  }
}

void RunDirectory::refuse_files(bool resume) const {
  std::error_code error;
  if (!fs::is_directory(path_, error)) return;
  const std::string found = first_file(path_);
  if (found.empty()) return;
  if (!resume) {
    throw SystemError(
        "{}: is not empty (it holds {}); --resume goes on with a run, another --out begins one",
        path_, printable(found));
  }
  if (had_lock_ || directory_exists(path_ + "/" + kCheckpoints)) return;
  throw SystemError("{}: holds {}, and no run to resume; check the path after --out", path_,
                    printable(found));
}

bool RunDirectory::has_checkpoint() const {
  for (const std::string& name : names_in(path_ + "/" + kCheckpoints)) {
    if (target_of_temporary(name).empty()) return true;
  }
  return false;
}

void RunDirectory::begin(const std::string& config) {
  remove_leftovers(path_);
  remove_leftovers(path_ + "/model");
  write_file(path_ + "/config.json", config);
  begun_ = true;
}

}  // namespace attn
