#include "base/files/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/files/descriptor.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

constexpr const char* kOpening = "cannot open for writing";
constexpr std::size_t kLargestLfsPointer = 1024;  // by the format's specification

[[noreturn]] void throw_too_large(const std::string& path, std::size_t max_bytes) {
  throw InputError("{}: the file is larger than {}, the limit; is this the right file?",
                   printable(path), human_bytes(static_cast<double>(max_bytes)));
}

/// Refuses the small file that git checks out in place of a large one if git-lfs did not run.
void reject_lfs_pointer(std::string_view bytes, const std::string& path) {
  if (bytes.size() > kLargestLfsPointer ||
      !bytes.starts_with("version https://git-lfs.github.com/spec/")) {
    return;
  }
  throw InputError("{}: a git-lfs pointer; fetch the file with git lfs pull", printable(path));
}

/// A map in use, listed for a signal handler.
struct MapSlot {
  std::atomic<const std::byte*> begin{nullptr};
  std::atomic<std::size_t> size{0};
  std::array<char, 512> name{};
};
std::array<MapSlot, 128> maps;
std::mutex maps_mutex;

void note_map(const std::byte* begin, std::size_t size, const std::string& path) {
  const std::lock_guard lock(maps_mutex);
  for (MapSlot& slot : maps) {
    if (slot.begin != nullptr) continue;
    const std::string name = printable(path).substr(0, slot.name.size() - 1);
    std::copy(name.begin(), name.end(), slot.name.begin());
    slot.name[name.size()] = '\0';
    slot.size = size;
    slot.begin = begin;  // last, so that a handler in between sees an empty slot
    return;
  }
}

void forget_map(const std::byte* begin) {
  const std::lock_guard lock(maps_mutex);
  for (MapSlot& slot : maps) {
    if (slot.begin == begin) slot.begin = nullptr;
  }
}

/// Calls stat(2); returns false if nothing is there.
bool status_of(const std::string& path, struct stat& status) {
  if (stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw_system_error(path, "cannot open", errno);
}

}  // namespace

std::string read_file(const std::string& path, std::size_t max_bytes) {
  struct stat status = {};
  const FileDescriptor file(open_to_read(path, status));
  const auto stated = to_size(std::max<off_t>(status.st_size, 0));
  if (stated > max_bytes) throw_too_large(path, max_bytes);
  // Pipes and /proc files report no size, and a file may grow meanwhile: read to the end, but at
  // most one byte beyond the limit.
  std::string content(std::min(std::max<std::size_t>(stated, 4095), max_bytes) + 1, '\0');
  std::size_t length = 0;
  for (;;) {
    const ssize_t got = read(file.number(), content.data() + length, content.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system_error(path, "cannot read", errno);
    if (got == 0) break;
    length += to_size(got);
    if (length > max_bytes) throw_too_large(path, max_bytes);
    if (length == content.size()) content.resize(std::min(2 * length, max_bytes) + 1);
  }
  content.resize(length);
  reject_lfs_pointer(content, path);
  return content;
}

std::string read_text_file(const std::string& path, std::size_t max_bytes) {
  std::string text = read_file(path, max_bytes);
  reject_utf16(text, printable(path));
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // a byte order mark
  return text;
}

void reject_utf16(std::string_view text, std::string_view name) {
  if (!text.starts_with("\xff\xfe") && !text.starts_with("\xfe\xff")) return;
  throw InputError(
      "{}: begins as UTF-16, expected UTF-8; save it as UTF-8, or use iconv -f UTF-16 -t UTF-8",
      name);
}

std::string join_path(const std::string& directory, const char* file) {
  return directory + (directory.empty() || directory.back() == '/' ? "" : "/") + file;
}

bool file_exists(const std::string& path) {
  struct stat status = {};
  return status_of(path, status) && !S_ISDIR(status.st_mode);
}

bool directory_exists(const std::string& path) {
  struct stat status = {};
  return status_of(path, status) && S_ISDIR(status.st_mode);
}

MappedFile::MappedFile(const std::string& path) : path_(path) {
  struct stat status = {};
  const FileDescriptor file(open_to_read(path, status));
  if (!S_ISREG(status.st_mode)) {
    throw SystemError("{}: cannot map: it is not a regular file; save it as a file first",
                      printable(path));
  }
  size_ = to_size(status.st_size);
  if (size_ == 0) return;
  if (size_ <= kLargestLfsPointer) reject_lfs_pointer(read_file(path), path);
  // Populated while read-only, because populating a writable private map would copy its pages.
  // Above this size, loading pages on first access is cheaper than waiting for a whole file that
  // may turn out broken.
  constexpr std::size_t kMostPopulated = std::size_t{256} << 20;
  const int flags = MAP_PRIVATE | (size_ <= kMostPopulated ? MAP_POPULATE : 0);
  void* address = mmap(nullptr, size_, PROT_READ, flags, file.number(), 0);
  if (address == MAP_FAILED) throw_system_error(path, "cannot map", errno);
  if (mprotect(address, size_, PROT_READ | PROT_WRITE) != 0) {
    const int error = errno;
    munmap(address, size_);
    throw_system_error(path, "cannot map", error);
  }
  data_ = static_cast<std::byte*>(address);
  note_map(data_, size_, path_);
}

MappedFile::~MappedFile() {
  if (data_ == nullptr) return;
  forget_map(data_);
  munmap(data_, size_);
}

void MappedFile::release(std::span<const std::byte> bytes) const {
  if (bytes.data() < data_ || bytes.data() + bytes.size() > data_ + size_) return;
  const auto page = to_size(sysconf(_SC_PAGESIZE));
  const auto begin = to_size(bytes.data() - data_);
  const std::size_t first = (begin + page - 1) / page * page;
  const std::size_t end = (begin + bytes.size()) / page * page;
  if (first < end) madvise(data_ + first, end - first, MADV_DONTNEED);
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

const char* mapped_file_at(const void* address) noexcept {
  for (const MapSlot& slot : maps) {
    const std::byte* begin = slot.begin;
    if (begin != nullptr && address >= begin && address < begin + slot.size) {
      return slot.name.data();
    }
  }
  return nullptr;
}

bool is_stream_path(std::string_view path) {
  if (path.starts_with("/dev/fd/")) return true;
  if (path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr") return true;
  // Only /proc/self/fd/1 and the like: /proc/self/cwd/maps.json, for example, may be an ordinary
  // file.
  const std::size_t last = path.rfind('/');
  return path.starts_with("/proc/") && path.substr(0, last).ends_with("/fd");
}

std::string resolve_links(const std::string& path) {
  std::string found = path;
  for (int links = 0; links < 40; ++links) {  // the limit of Linux
    std::array<char, PATH_MAX> target{};
    const ssize_t size = readlink(found.c_str(), target.data(), target.size());
    if (size < 0) return found;
    const std::string_view text(target.data(), to_size(size));
    const std::size_t slash = found.rfind('/');
    found.resize(text.starts_with('/') || slash == std::string::npos ? 0 : slash + 1);
    found += text;
  }
  throw_system_error(path, "cannot follow", ELOOP);
}

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
  if (path.empty()) throw_system_error(path, kOpening, ENOENT);
  if (path.find('\0') != std::string::npos) throw_system_error(path, kOpening, EINVAL);
  struct stat status = {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) throw_system_error(path, kOpening, errno);
  if (exists && S_ISDIR(status.st_mode)) {
    throw SystemError("{}: cannot write: it is a directory, expected a file; name a file inside it",
                      printable(path));
  }
  if (exists && (is_stream_path(path) || !S_ISREG(status.st_mode))) {
    open_directly();
    return;
  }
  // A rename would replace a write-protected file, and a link instead of its target.
  if (exists && access(path.c_str(), W_OK) != 0) throw_system_error(path, kOpening, errno);
  path_ = resolve_links(path);
  temporary_ = TemporaryPath::make_beside(TemporaryPath::Kind::file, path_, exists ? 0600 : 0666);
  if (!temporary_) throw_system_error(path, kOpening, errno);
  descriptor_ = temporary_->descriptor();
  if (exists) copy_mode_and_owner(descriptor_, status, path);
}

void AtomicFile::open_directly() {
  descriptor_ = open_descriptor(path_, O_WRONLY | O_APPEND);
  if (descriptor_ < 0) throw_system_error(path_, kOpening, errno);
}

AtomicFile::~AtomicFile() {
  if (!temporary_ && descriptor_ >= 0) close(descriptor_);
}

void AtomicFile::write(std::string_view bytes) {
  if (descriptor_ < 0) throw std::logic_error("write after commit");
  write_all(descriptor_, bytes, path_);
}

void AtomicFile::commit() {
  if (descriptor_ < 0) throw std::logic_error("commit twice");
  const int descriptor = std::exchange(descriptor_, -1);
  if (!temporary_) {
    // Linux releases the descriptor even if close reports EINTR.
    if (close(descriptor) != 0 && errno != EINTR) throw_system_error(path_, "cannot write", errno);
    return;
  }
  const std::unique_ptr<TemporaryPath> temporary = std::move(temporary_);
  if (fsync(descriptor) != 0 || rename(temporary->path().c_str(), path_.c_str()) != 0) {
    throw_system_error(path_, "cannot write", errno);
  }
  temporary->keep();
  sync_directory_of(path_);
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
