// File input and output: whole reads with a size limit, read-only maps, and writes that appear
// completely or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/files/temporary_path.h"

namespace attn {

/// Returns the content of a file (or of a pipe, up to its end) of at most `max_bytes`. Throws
/// SystemError if it cannot be read (missing, a directory, no permission) and InputError if it is
/// larger.
std::string read_file(const std::string& path, std::size_t max_bytes = std::size_t{1} << 30);

/// The same for a text file. Throws InputError if the file begins as UTF-16.
std::string read_text_file(const std::string& path, std::size_t max_bytes = std::size_t{1} << 30);

/// Throws InputError if a text begins with the UTF-16 byte-order mark that Windows editors write;
/// neither byte occurs in UTF-8. `name` is the file's printable name.
void reject_utf16(std::string_view text, std::string_view name);

/// Joins a directory and a file name. The directory may be "" (the current one) and may end in a
/// slash.
std::string join_path(const std::string& directory, const char* file);

/// False only if nothing is there, or something of the other kind. Throws SystemError if the system
/// cannot tell.
bool file_exists(const std::string& path);
bool directory_exists(const std::string& path);

/// A private map of a file: pages are shared with the system's cache until they are written to, and
/// writes change only this process's copy. Files up to 256 MiB are read at once, larger ones when
/// they are touched. An empty file has size 0 and null data. Movable; unmapped by the destructor.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);  ///< SystemError if it cannot be opened or mapped
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  const std::string& path() const { return path_; }

  /// Returns the memory of all pages completely inside `bytes` to the system; they must only have
  /// been read so far. Later reads load them from the file again. Does nothing if `bytes` is
  /// outside of the map.
  void release(std::span<const std::byte> bytes) const;

 private:
  std::string path_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Returns the printable path of the mapped file that contains `address`; null if there is none.
/// For a signal handler (async-signal-safe): SIGBUS inside a map means that the file was truncated.
const char* mapped_file_at(const void* address) noexcept;

/// Writes a file next to its final name and renames it on commit(), after fsync. Readers see the
/// old file or the whole new one, with the mode and owner of the old one. Without commit() (an
/// error, a throw, a signal) nothing is left behind. A link stays a link, and its target is
/// replaced or created. A path that is not a regular file (a pipe, /dev/stdout, /dev/full) is
/// written directly, at its end.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);  ///< SystemError with the system's reason, e.g. disk full
  void commit();

 private:
  void open_directly();

  std::string path_;
  std::unique_ptr<TemporaryPath> temporary_;  ///< null if the file is written directly
  int descriptor_ = -1;                       ///< closed by its owner: this object or temporary_
};

/// True if a path is always written directly and never replaced: /dev/stdout and the like may be a
/// regular file that other processes write to as well.
bool is_stream_path(std::string_view path);

/// Follows links until a path is not a link, whether or not that path exists.
std::string resolve_links(const std::string& path);

/// Writes a whole file with AtomicFile.
void write_file(const std::string& path, std::string_view bytes);

/// Formats a number of bytes for people: "31.0 MB", "1.2 GB" (powers of 1000).
std::string human_bytes(double bytes);

}  // namespace attn
