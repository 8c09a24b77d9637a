#include "base/files/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

const char* hint(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return "; check the path";
    case EACCES:
    case EPERM:
      return "; check the permissions";
    case ENOSPC:
    case EDQUOT:
      return "; free some space or write elsewhere";
    case EROFS:
      return "; write elsewhere";
    default:
      return "";
  }
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

void throw_system_error(const std::string& path, const char* action, int error) {
  if (error == ENOMEM) {
    throw MemoryError("{}: {}: it does not fit in memory", printable(path), action);
  }
  throw SystemError("{}: {}: {}{}", path.empty() ? "(empty path)" : printable(path), action,
                    std::generic_category().message(error), hint(error));
}

int open_descriptor(const std::string& path, int flags, mode_t mode) {
  if (path.find('\0') != std::string::npos) {  // possible in a path from a config; the system would
                                               // use only the part before the zero byte
    errno = EINVAL;
    return -1;
  }
  int descriptor = -1;
  do {
    descriptor = open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

int open_to_read(const std::string& path, struct stat& status) {
  const int descriptor = open_descriptor(path, O_RDONLY);
  if (descriptor < 0) throw_system_error(path, "cannot open", errno);
  if (fstat(descriptor, &status) == 0 && !S_ISDIR(status.st_mode)) return descriptor;
  const int error = S_ISDIR(status.st_mode) ? EISDIR : errno;
  close(descriptor);
  if (error == EISDIR) {
    throw SystemError("{}: cannot read: it is a directory, expected a file; name a file inside it",
                      printable(path));
  }
  throw_system_error(path, "cannot open", error);
}

void write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_system_error(path, "cannot write", errno);
    bytes.remove_prefix(to_size(written));
  }
}

std::size_t read_up_to(int descriptor, void* out, std::size_t size, const std::string& path) {
  std::size_t length = 0;
  while (length < size) {
    const ssize_t got = read(descriptor, static_cast<char*>(out) + length, size - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system_error(path, "cannot read", errno);
    if (got == 0) break;
    length += to_size(got);
  }
  return length;
}

void copy_mode_and_owner(int descriptor, const struct stat& replaced, const std::string& path) {
  struct stat own = {};
  if (fstat(descriptor, &own) != 0) throw_system_error(path, "cannot open for writing", errno);
  const bool ours = own.st_uid == replaced.st_uid && own.st_gid == replaced.st_gid;
  if (!ours && fchown(descriptor, replaced.st_uid, replaced.st_gid) != 0) {
    throw SystemError(
        "{}: cannot replace: it belongs to another user or group, which a new file would not; "
        "write to another name",
        printable(path));
  }
  constexpr mode_t kMode = 07777;
  if ((own.st_mode & kMode) != (replaced.st_mode & kMode) &&
      fchmod(descriptor, replaced.st_mode & kMode) != 0) {
    throw_system_error(path, "cannot keep the mode", errno);
  }
}

void sync_directory_of(const std::string& path) {
  const FileDescriptor directory(open_descriptor(directory_of(path), O_RDONLY | O_DIRECTORY));
  if (directory.number() < 0) return;  // a directory can be writable but not readable
  if (fsync(directory.number()) != 0 && errno != EINVAL)
    throw_system_error(path, "cannot write", errno);
}

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) close(number_);
}

}  // namespace attn
