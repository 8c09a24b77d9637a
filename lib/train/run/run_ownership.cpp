#include "train/run/run_ownership.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/descriptor.h"
#include "base/strings/utf8.h"
#include "train/run/checkpoint_reader.h"

namespace attn {
namespace {

/// False where the holder before removed the file that was opened.
bool is_file_of(int descriptor, const std::string& path) {
  struct stat opened = {};
  struct stat named = {};
  return fstat(descriptor, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

constexpr std::string_view kMark = "attn-demo training run\n";

/// As much of a file as `most` bytes; empty where it is missing or cannot be read.
std::string first_bytes(const std::string& path, std::size_t most) try {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return "";
  const FileDescriptor file(open_to_read(path, status));
  std::string bytes(most, '\0');
  bytes.resize(read_up_to(file.number(), bytes.data(), most, path));
  return bytes;
} catch (const SystemError&) {
  return "";
}

}  // namespace

bool contains_training_run(const std::string& directory) {
  if (first_bytes(directory + "/lock", kMark.size() + 1) == kMark) return true;
  const std::string folder = directory + "/checkpoints";
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (name.starts_with("checkpoint-") &&
        first_bytes(folder + "/" + name, kCheckpointMagic.size()) == kCheckpointMagic) {
      return true;
    }
  }
  return false;
}

bool is_foreign_lock(const std::string& directory) {
  const std::string path = directory + "/lock";
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return false;
  if (!S_ISREG(status.st_mode)) return true;
  // A run that was killed may have left it empty.
  return status.st_size != 0 && first_bytes(path, kMark.size() + 1) != kMark;
}

RunLock::RunLock(const std::string& directory) {
  const std::string path = directory + "/lock";
  do {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = open_descriptor(path, O_RDWR | O_CREAT, 0666);
    if (descriptor_ < 0) throw_system_error(path, "cannot open", errno);
    lock(directory, path);
  } while (!is_file_of(descriptor_, path));
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0) throw_system_error(path, "cannot read", errno);
  if (status.st_size == 0) write_all(descriptor_, kMark, path);
}

void RunLock::lock(const std::string& directory, const std::string& path) {
  int result = -1;
  do {
    result = flock(descriptor_, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return;
  const int error = errno;
  close(std::exchange(descriptor_, -1));
  if (error != EWOULDBLOCK) throw_system_error(path, "cannot lock", error);
  throw SystemError(
      "{}: another training run is writing here; wait for its end, stop it, or choose another "
      "folder",
      printable(directory));
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) close(descriptor_);  // which unlocks
}

}  // namespace attn
