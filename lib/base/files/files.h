// Files in and out: whole reads with a bound, read-only maps, and writes that appear complete or
// not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/files/temporary_path.h"

namespace attn {

/// The whole content of a file (or of a pipe, up to its end) of at most `max_bytes`. SystemError
/// where the system refuses (missing, a directory, no permission); InputError where it is larger.
std::string read_file(const std::string& path, std::size_t max_bytes = std::size_t{1} << 30);

/// The same for a file of text: InputError where it begins as UTF-16.
std::string read_text_file(const std::string& path, std::size_t max_bytes = std::size_t{1} << 30);

/// InputError where a text begins with the mark that Windows' editors put before what they call
/// Unicode; in UTF-8 neither byte occurs. `name` is the file's, printable.
void reject_utf16(std::string_view text, std::string_view name);

/// A file's path in a directory, which may be "" (here) and may end in a slash.
std::string join_path(const std::string& directory, const char* file);

/// False only where nothing is there, or the other kind; SystemError where the system does not say.
bool file_exists(const std::string& path);
bool directory_exists(const std::string& path);

/// A private map of a file: pages are shared with the system's cache until written to, and a write
/// changes this process's copy only. Files up to 256 MiB are read in at once, larger ones as they
/// are touched. An empty file has size 0 and null data. Movable; unmapped at the end.
class MappedFile {
 public:
  explicit MappedFile(
      const std::string& path);  ///< SystemError where it cannot be opened or mapped
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  const std::string& path() const { return path_; }

  /// Gives back the memory of what lies wholly inside `bytes`, which was only read so far; whoever
  /// reads there again gets it from the file. Nothing where that is outside of the map.
  void release(std::span<const std::byte> bytes) const;

 private:
  std::string path_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The path of the mapped file in whose map `address` lies, made printable; null where in none. For
/// a signal handler (async-signal-safe): SIGBUS there says that the file was cut short.
const char* mapped_file_at(const void* address) noexcept;

/// Writes a file beside its final name and renames it there on commit(), after fsync: readers see
/// the old file or the whole new one, with the mode and owner of the old one. Without commit() (an
/// error, a throw, a signal) nothing is left behind. A link stays a link, and what it leads to is
/// replaced or made. A path that is no regular file (a pipe, /dev/stdout, /dev/full) is written
/// directly, at its end.
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
  std::unique_ptr<TemporaryPath> temporary_;  ///< null when written directly
  int descriptor_ = -1;                       ///< closed by its owner: this, or temporary_
};

/// Whether a path is written directly and never replaced whatever it leads to: /dev/stdout and the
/// like may be a regular file that others write to as well.
bool is_stream_path(std::string_view path);

/// Where a link leads, and the link there, until one is none, whether or not something is there.
std::string resolve_links(const std::string& path);

/// AtomicFile in one call.
void write_file(const std::string& path, std::string_view bytes);

/// Bytes for a person: "31.0 MB", "1.2 GB" (powers of 1000).
std::string human_bytes(double bytes);

}  // namespace attn
