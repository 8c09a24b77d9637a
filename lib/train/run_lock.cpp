#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/utf8.h"
#include "train/checkpoint.h"

namespace attn {

RunLock::RunLock(const std::string& directory) {
  const std::string path = directory + "/lock";
  descriptor_ = open_descriptor(path, O_RDWR | O_CREAT, 0666);
  if (descriptor_ < 0) throw_system(path, "cannot open", errno);
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
