#include "train/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/utf8.h"

namespace attn {
namespace {

/// False where the holder before removed the file that was opened.
bool is_file_of(int descriptor, const std::string& path) {
  struct stat opened = {};
  struct stat named = {};
  return fstat(descriptor, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

}  // namespace

RunLock::RunLock(const std::string& directory) {
  const std::string path = directory + "/lock";
  do {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = open_descriptor(path, O_RDWR | O_CREAT, 0666);
    if (descriptor_ < 0) throw_system(path, "cannot open", errno);
    lock(directory, path);
  } while (!is_file_of(descriptor_, path));
}

void RunLock::lock(const std::string& directory, const std::string& path) {
  int result = -1;
  do {
    result = flock(descriptor_, LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return;
  const int error = errno;
  close(std::exchange(descriptor_, -1));
  if (error != EWOULDBLOCK) throw_system(path, "cannot lock", error);
  throw SystemError(
      "{}: another training run is writing here; wait for its end, stop it, or choose another "
      "folder",
      printable(directory));
}

RunLock::~RunLock() {
  if (descriptor_ >= 0) close(descriptor_);  // which unlocks
}

}  // namespace attn
