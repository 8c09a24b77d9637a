#include "model/directory/torch_file.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

constexpr std::uint32_t kLocalMark = 0x04034b50;
constexpr std::uint32_t kCentralMark = 0x02014b50;
constexpr std::uint32_t kEndMark = 0x06054b50;
constexpr std::uint32_t kEnd64Mark = 0x06064b50;
constexpr std::uint32_t kLocator64Mark = 0x07064b50;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kCentralBytes = 46;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocator64Bytes = 20;
constexpr std::size_t kMaxComment = 0xFFFF;
constexpr std::uint16_t kZip64Field = 1;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;  // the number is in the zip64 field

/// The position of the central directory, and its number of entries.
struct Directory {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t entries = 0;
};

class ZipReader {
 public:
  ZipReader(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::vector<ZipEntry> run() {
    const Directory directory = find_directory();
    std::size_t at = to_size(directory.begin);
    for (std::uint64_t i = 0; i < directory.entries; ++i) at = read_entry(at);
    if (at != end_) fail("its list of entries is {} bytes long, expected {}", at - begin_, size());
    check_overlap();
    check_names();
    std::vector<ZipEntry> entries;
    for (Placed& placed : entries_) entries.push_back(std::move(placed.entry));
    return entries;
  }

 private:
  struct Placed {
    ZipEntry entry;
    std::size_t header = 0;  ///< offset of the local header
  };

  template <typename Number>
  Number number(std::size_t at, std::size_t end) const {
    if (end < sizeof(Number) || at > end - sizeof(Number)) {
      fail("a record at byte {} exceeds the file or its list; is the file complete?", at);
    }
    Number value = 0;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  std::uint16_t u16(std::size_t at) const { return number<std::uint16_t>(at, bytes_.size()); }
  std::uint32_t u32(std::size_t at) const { return number<std::uint32_t>(at, bytes_.size()); }
  std::uint64_t u64(std::size_t at) const { return number<std::uint64_t>(at, bytes_.size()); }
  std::size_t size() const { return end_ - begin_; }

  /// Finds the end record, which closes the file together with an optional comment of a declared
  /// length.
  std::size_t find_end() const {
    if (bytes_.size() >= kEndBytes) {
      const std::size_t last = bytes_.size() - kEndBytes;
      for (std::size_t i = last + 1; i-- > 0 && last - i <= kMaxComment;) {
        if (u32(i) == kEndMark && u16(i + 20) == last - i) return i;
      }
    }
    fail("found no end of a zip archive, which torch.save writes; is the file complete?");
  }

  Directory find_directory() {
    const std::size_t end = find_end();
    Directory found{u32(end + 16), u32(end + 12), u16(end + 10)};
    bool one_disk = u16(end + 4) == 0 && u16(end + 6) == 0 && u16(end + 8) == u16(end + 10);
    std::size_t limit = end;
    if (end >= kLocator64Bytes && u32(end - kLocator64Bytes) == kLocator64Mark) {
      const std::uint64_t place = u64(end - kLocator64Bytes + 8);
      if (place > bytes_.size() || u32(to_size(place)) != kEnd64Mark) {
        fail("its zip64 end record is not at byte {}", place);
      }
      limit = to_size(place);
      if (end - kLocator64Bytes < kEnd64Bytes || limit > end - kLocator64Bytes - kEnd64Bytes) {
        fail("its zip64 end record at byte {} exceeds the space for it", place);
      }
      found = {u64(limit + 48), u64(limit + 40), u64(limit + 32)};
      one_disk = u32(limit + 16) == 0 && u32(limit + 20) == 0 && u64(limit + 24) == found.entries;
    }
    if (!one_disk) fail("an archive in several parts; expected one file");
    if (found.begin > limit || found.size > limit - found.begin) {
      fail("its list of entries at byte {}, {} bytes long, exceeds the file", found.begin,
           found.size);
    }
    begin_ = to_size(found.begin);
    end_ = to_size(found.begin + found.size);
    if (found.entries > size() / kCentralBytes) {
      fail("{} entries in a list of {} bytes", found.entries, found.size);
    }
    return found;
  }

  /// Reads the entry whose central record begins at `at`; returns where the next one begins.
  std::size_t read_entry(std::size_t at) {
    if (size() < kCentralBytes || at > end_ - kCentralBytes || u32(at) != kCentralMark) {
      fail("its list of entries is damaged at byte {}", at);
    }
    const std::size_t name_size = u16(at + 28);
    const std::size_t extra_size = u16(at + 30);
    const std::size_t next = at + kCentralBytes + name_size + extra_size + u16(at + 32);
    if (next > end_) fail("the entry at byte {} exceeds the list of entries", at);
    Placed placed;
    placed.entry.name = bytes_.substr(at + kCentralBytes, name_size);
    const std::string& name = placed.entry.name;
    if (!is_valid_utf8(name)) fail("the name of an entry is not UTF-8");
    if ((u16(at + 8) & 1U) != 0) fail_entry(name, "is encrypted");
    if (u16(at + 10) != 0) fail_entry(name, "is compressed; expected uncompressed entries");
    std::uint64_t size = u32(at + 24);
    std::uint64_t packed = u32(at + 20);
    std::uint64_t header = u32(at + 42);
    read_zip64(name, at + kCentralBytes + name_size, extra_size, {&size, &packed, &header});
    if (size != packed) fail_entry(name, "is stored in a size that differs from its own");
    place(placed, header, size);
    entries_.push_back(std::move(placed));
    return next;
  }

  /// Reads the numbers that do not fit in 32 bits from a field of their own, in this order.
  void read_zip64(const std::string& name, std::size_t at, std::size_t length,
                  std::initializer_list<std::uint64_t*> numbers) const {
    const std::size_t end = at + length;
    while (end - at >= 4) {
      const std::uint16_t kind = u16(at);
      const std::size_t field_end = at + 4 + u16(at + 2);
      if (field_end > end) fail_entry(name, "has an extra field that exceeds its record");
      at += 4;
      for (std::uint64_t* one : numbers) {
        if (kind != kZip64Field || *one != kIn64) continue;
        *one = number<std::uint64_t>(at, field_end);
        at += sizeof *one;
      }
      at = field_end;
    }
  }

  void place(Placed& placed, std::uint64_t header, std::uint64_t size) const {
    const std::string& name = placed.entry.name;
    if (header > begin_ || begin_ - header < kLocalBytes || u32(to_size(header)) != kLocalMark) {
      fail_entry(name, "has no header at byte {}", header);
    }
    placed.header = to_size(header);
    const std::size_t name_at = placed.header + kLocalBytes;
    const std::size_t name_size = u16(placed.header + 26);
    if (bytes_.substr(name_at, name_size) != name) {
      fail_entry(name, "has another name at its own place, byte {}", header);
    }
    if ((u16(placed.header + 6) & 1U) != 0 || u16(placed.header + 8) != 0) {
      fail_entry(name, "is compressed or encrypted at its own place, byte {}", header);
    }
    placed.entry.begin = name_at + name_size + u16(placed.header + 28);
    if (placed.entry.begin > begin_ || size > begin_ - placed.entry.begin) {
      fail_entry(name, "has {} bytes from byte {} on, which exceed the file; is it complete?", size,
                 placed.entry.begin);
    }
    placed.entry.size = to_size(size);
  }

  void check_overlap() {
    std::ranges::sort(entries_, {}, &Placed::header);
    std::size_t free = 0;
    for (const Placed& placed : entries_) {
      if (placed.header < free) {
        fail_entry(placed.entry.name, "begins at byte {}, inside the entry before it",
                   placed.header);
      }
      free = placed.entry.begin + placed.entry.size;
    }
  }

  void check_names() const {
    std::vector<std::string_view> names;
    for (const Placed& placed : entries_) names.push_back(placed.entry.name);
    std::ranges::sort(names);
    const auto twice = std::ranges::adjacent_find(names);
    if (twice != names.end()) fail_entry(*twice, "stands twice");
  }

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError("{}: {}", printable(path_), fmt::format(format, std::forward<Args>(args)...));
  }

  template <typename... Args>
  [[noreturn]] void fail_entry(std::string_view name, fmt::format_string<Args...> format,
                               Args&&... args) const {
    fail("entry '{}' {}", excerpt(name), fmt::format(format, std::forward<Args>(args)...));
  }

  std::string_view bytes_;
  const std::string& path_;
  std::size_t begin_ = 0;  ///< start of the central directory, after all entries
  std::size_t end_ = 0;
  std::vector<Placed> entries_;
};

}  // namespace

std::vector<ZipEntry> read_zip_entries(std::string_view bytes, const std::string& path) {
  return ZipReader(bytes, path).run();
}

}  // namespace attn
