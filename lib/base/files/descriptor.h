// File descriptors whose errors are one-line messages, used by files.cpp and the logs of training
// runs.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace attn {

/// Throws SystemError "PATH: ACTION: REASON; hint" for an errno.
[[noreturn]] void throw_system_error(const std::string& path, const char* action, int error);

/// Calls open(2) close-on-exec and retries on EINTR; returns −1 and sets errno on failure.
int open_descriptor(const std::string& path, int flags, mode_t mode = 0);

/// Opens a file for reading and gets its status. Throws SystemError if it is missing or a
/// directory.
int open_to_read(const std::string& path, struct stat& status);

/// Writes all of `bytes`. Throws SystemError naming `path` on failure.
void write_all(int descriptor, std::string_view bytes, const std::string& path);

/// Reads until `size` bytes have been read or the file ends, and returns the number of bytes read.
/// Throws SystemError naming `path` on failure.
std::size_t read_up_to(int descriptor, void* out, std::size_t size, const std::string& path);

/// Gives an open file or directory the mode and owner of the file that it will replace, whose
/// status is `replaced`. Throws SystemError naming `path` on failure.
void copy_mode_and_owner(int descriptor, const struct stat& replaced, const std::string& path);

/// Makes the name of a new or renamed file durable by calling fsync on the directory of `path`.
void sync_directory_of(const std::string& path);

/// Owns a descriptor and closes it, where errors of close(2) do not matter.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

}  // namespace attn
