// Files in and out: whole reads with a bound, read-only maps, and writes that appear complete or
// not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace attn {

/// The whole content of a file (or of a pipe, up to its end) of at most `max_bytes`. SystemError
/// where the system refuses (missing, a directory, no permission); InputError where it is larger.
std::string read_file(const std::string& path, std::size_t max_bytes = std::size_t{1} << 30);

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

 private:
  std::string path_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Writes a file beside its final name and renames it there on commit(), after fsync: readers see
/// the old file or the whole new one. Without commit() (an error, a throw) nothing is left behind.
/// A link stays a link, and its target is replaced. A path that is no regular file (a pipe,
/// /dev/stdout, /dev/full) is written directly, at its end.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);  ///< SystemError with the system's reason, e.g. disk full
  void commit();

 private:
  std::string path_;
  std::string temporary_path_;  ///< empty when written directly; never moves (a signal reads it)
  int descriptor_ = -1;
  bool committed_ = false;
};

/// The name of the file that AtomicFile was writing when it left a file called `name` behind (a
/// process that was killed); empty where `name` is not one of its temporary names.
std::string_view target_of_temporary(std::string_view name);

/// For a signal handler that ends the process: unlinks the temporary files of writes under way.
/// Async-signal-safe.
void remove_temporary_files() noexcept;

/// AtomicFile in one call.
void write_file(const std::string& path, std::string_view bytes);

/// Bytes for a person: "31.0 MB", "1.2 GB" (powers of 1000).
std::string human_bytes(double bytes);

}  // namespace attn
