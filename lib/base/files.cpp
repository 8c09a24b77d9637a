#include "base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/utf8.h"

namespace attn {
namespace {

[[noreturn]] void throw_too_large(const std::string& path, std::size_t max_bytes) {
  throw InputError("{}: found more than {}, expected at most that; is this the right file?",
                   printable(path), human_bytes(static_cast<double>(max_bytes)));
}

/// Temporary files of writes under way, for a signal handler: plain pointers, no locks.
std::array<std::atomic<const char*>, 16> temporaries;

void announce_temporary(const char* path) {
  for (auto& slot : temporaries) {
    const char* expected = nullptr;
    if (slot.compare_exchange_strong(expected, path)) return;
  }  // more at once than slots: then a signal leaves one behind
}

void forget_temporary(const char* path) {
  for (auto& slot : temporaries) {
    const char* expected = path;
    if (slot.compare_exchange_strong(expected, nullptr)) return;
  }
}

}  // namespace

std::string read_file(const std::string& path, std::size_t max_bytes) {
  struct stat status = {};
  const Descriptor file(open_to_read(path, status));
  const auto stated = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  if (stated > max_bytes) throw_too_large(path, max_bytes);
  // Pipes and /proc state no size, and a file may grow meanwhile: read until the end, one byte
  // beyond the bound at most.
  std::string content(std::min(std::max<std::size_t>(stated, 4095), max_bytes) + 1, '\0');
  std::size_t length = 0;
  for (;;) {
    const ssize_t got = read(file.number(), content.data() + length, content.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system(path, "cannot read", errno);
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
    if (length > max_bytes) throw_too_large(path, max_bytes);
    if (length == content.size()) content.resize(std::min(2 * length, max_bytes) + 1);
  }
  content.resize(length);
  return content;
}

bool file_exists(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

bool directory_exists(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  struct stat status = {};
  const Descriptor file(open_to_read(path, status));
  if (!S_ISREG(status.st_mode)) {
    throw SystemError("{}: cannot map: it is no regular file; save it as a file first",
                      printable(path));
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  // Populated while read-only: a writable private map would be populated with copies of its pages.
  // Beyond the bound faults are cheaper than waiting for a file that may prove broken.
  constexpr std::size_t kMostPopulated = std::size_t{256} << 20;
  const int flags = MAP_PRIVATE | (size_ <= kMostPopulated ? MAP_POPULATE : 0);
  void* address = mmap(nullptr, size_, PROT_READ, flags, file.number(), 0);
  if (address == MAP_FAILED) throw_system(path, "cannot map", errno);
  if (mprotect(address, size_, PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    munmap(address, size_);
    throw_system(path, "cannot map", error);
  }
  data_ = static_cast<std::byte*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  struct stat status = {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    throw SystemError("{}: cannot write: it is a directory, expected a file; name a file inside it",
                      printable(path));
  }
  // /dev/stdout may lead to a regular file, which must not be replaced while others write to it.
  const bool is_stream =
      path.starts_with("/dev/std") || path.starts_with("/dev/fd/") || path.starts_with("/proc/");
  if (exists && (is_stream || !S_ISREG(status.st_mode))) {
    descriptor_ = open_descriptor(path, O_WRONLY | O_APPEND);
    if (descriptor_ < 0) throw_system(path, "cannot open for writing", errno);
    return;
  }
  if (exists) {
    // Renaming would replace a file that its owner has protected, and a link instead of its target.
    if (access(path.c_str(), W_OK) != 0) throw_system(path, "cannot open for writing", errno);
    char resolved[PATH_MAX];
    if (realpath(path.c_str(), resolved) != nullptr) path_ = resolved;
  }
  static std::atomic<unsigned> counter{0};
  do {
    temporary_path_ = fmt::format("{}.tmp-{}-{}", path_, getpid(), counter++);
    descriptor_ = open_descriptor(temporary_path_, O_WRONLY | O_CREAT | O_EXCL, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) throw_system(path, "cannot open for writing", errno);
  announce_temporary(temporary_path_.c_str());
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (temporary_path_.empty()) return;
  if (!committed_) unlink(temporary_path_.c_str());
  forget_temporary(temporary_path_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (descriptor_ < 0) throw std::logic_error("write after commit");
  write_all(descriptor_, bytes, path_);
}

void AtomicFile::commit() {
  if (descriptor_ < 0) throw std::logic_error("commit twice");
  const bool direct = temporary_path_.empty();
  if (!direct && fsync(descriptor_) != 0) throw_system(path_, "cannot write", errno);
  // Linux releases the descriptor even where close reports EINTR.
  if (close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
    throw_system(path_, "cannot write", errno);
  }
  if (!direct) {
    if (rename(temporary_path_.c_str(), path_.c_str()) != 0) {
      throw_system(path_, "cannot write", errno);
    }
    committed_ = true;
    sync_directory_of(path_);
  }
  committed_ = true;
}

std::string_view target_of_temporary(std::string_view name) {
  constexpr std::string_view kMark = ".tmp-";
  const std::size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos) return {};
  const std::string_view numbers = name.substr(mark + kMark.size());
  const std::size_t dash = numbers.find('-');
  if (dash == 0 || dash == std::string_view::npos || dash + 1 == numbers.size()) return {};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i != dash && (numbers[i] < '0' || numbers[i] > '9')) return {};
  }
  return name.substr(0, mark);
}

void remove_temporary_files() noexcept {
  for (const auto& slot : temporaries) {
    if (const char* path = slot.load()) unlink(path);
  }
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

std::string human_bytes(double bytes) {
  static constexpr std::array<const char*, 7> kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  while (bytes >= (unit == 0 ? 1000 : 999.95) && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

}  // namespace attn
