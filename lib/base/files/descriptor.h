// File descriptors with their errors as one line: what files.cpp and the logs of a training run
// stand on.
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

/// open(2), close-on-exec, with EINTR handled; −1 with errno where it fails.
int open_descriptor(const std::string& path, int flags, mode_t mode = 0);

/// open_descriptor for reading, with the file's status. SystemError for what is missing or a
/// directory.
int open_to_read(const std::string& path, struct stat& status);

/// Writes all of `bytes`; SystemError naming `path` where the system refuses.
void write_all(int descriptor, std::string_view bytes, const std::string& path);

/// Reads until `size` bytes are there or the file ends; how many there are. SystemError naming
/// `path` where the system refuses.
std::size_t read_up_to(int descriptor, void* out, std::size_t size, const std::string& path);

/// Gives an open file or folder the mode and owner of what it is to replace, whose status this is.
/// SystemError naming `path` where the system refuses.
void copy_mode_and_owner(int descriptor, const struct stat& replaced, const std::string& path);

/// Makes the name of a new or renamed file durable: fsync of the folder that holds `path`.
void sync_directory_of(const std::string& path);

/// Owns a descriptor and closes it; for where close has nothing to report.
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
