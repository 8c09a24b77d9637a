#include "text/sentencepiece/charsmap_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "text/sentencepiece/normalizer.h"
#include "text/sentencepiece/protobuf_reader.h"

namespace attn {
namespace {

constexpr std::size_t kUnit = 4;          // bytes of one unit of the double array
constexpr std::size_t kBlockUnits = 256;  // it grows by blocks of one unit a byte value
constexpr int kMaxMatches = 32;           // the library's array for the matches of one search
constexpr int kMaxKeyBytes = 512;         // of a rule's left side; real ones have about 20
constexpr std::uint32_t kValueBit = 1u << 31;

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = kUnit; i-- > 0;) {
    value = value << 8 | byte_value(bytes[at + i]);
  }
  return value;
}

/// One pass over the trie. A unit u with label c is a child of those units p for which
/// p ^ offset(p) ^ c == u, so units are grouped by u ^ label(u), the "base" of their parents.
class CharsmapCheck {
 public:
  CharsmapCheck(std::string_view charsmap, std::size_t offset, const std::string& where)
      : offset_(offset), where_(where) {
    if (charsmap.size() <= kUnit) fail("normalisation rules of less than 5 bytes");
    const std::size_t trie_size = little_endian(charsmap, 0);
    if (trie_size == 0 || trie_size % (kBlockUnits * kUnit) != 0 ||
        trie_size >= charsmap.size() - kUnit) {
      fail(fmt::format("normalisation rules of {} bytes whose table has {}", charsmap.size(),
                       trie_size));
    }
    CharsmapParts parts = charsmap_parts(charsmap);
    strings_ = parts.strings;
    units_ = std::move(parts.units);
  }

  void run() {
    if (strings_.back() != '\0') fail("normalisation strings that do not end with a zero byte");
    if (!is_valid_utf8(strings_)) fail("normalisation strings that are not UTF-8");
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (i == 0 || !(units_[i] & kValueBit)) check_unit(i);
    }
    group_children();
    matches_.assign(units_.size(), kUnknown);
    if (longest(base_of(0), 0) > kMaxMatches) {
      fail(fmt::format("more than {} normalisation rules that begin alike", kMaxMatches));
    }
  }

 private:
  static constexpr signed char kUnknown = -1;

  [[noreturn]] void fail(const std::string& found) const { throw_damaged_file(where_, offset_, found); }

  std::size_t base_of(std::size_t i) const { return charsmap_base(i, units_[i]); }

  bool has_leaf(std::size_t i) const { return charsmap_has_leaf(units_[i]); }

  /// What a search that arrives at unit i may read next lies inside.
  void check_unit(std::size_t i) const {
    const std::size_t base = base_of(i);
    if ((base | (kBlockUnits - 1)) >= units_.size()) {
      fail(fmt::format("normalisation table entry {} leads to {} of {}", i, base, units_.size()));
    }
    if (!has_leaf(i)) return;
    const std::size_t string = units_[base] & ~kValueBit;
    if (string >= strings_.size() || is_continuation_byte(strings_[string])) {
      fail(fmt::format("normalisation table entry {} leads to string byte {} of {}", i, string,
                       strings_.size()));
    }
  }

  /// A counting sort of the units by base; base and unit lie in one block, so it is in range. The
  /// root is one of them: a search goes through it again where another unit leads there.
  void group_children() {
    starts_.assign(units_.size() + 1, 0);
    const auto parent_base = [this](std::size_t i) { return i ^ (units_[i] & 0xFF); };
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (!(units_[i] & kValueBit)) ++starts_[parent_base(i) + 1];
    }
    for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    children_.resize(starts_.back());
    std::vector<std::uint32_t> next(starts_.begin(), starts_.end() - 1);
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (!(units_[i] & kValueBit))
        children_[next[parent_base(i)]++] = narrow_cast<std::uint32_t>(i);
    }
  }

  /// The most matches on any path from `base` down. A cycle runs into the depth limit.
  int longest(std::size_t base, int depth) {
    if (matches_[base] != kUnknown) return matches_[base];
    if (depth > kMaxKeyBytes) fail("a normalisation rule without end");
    int most = 0;
    for (std::size_t i = starts_[base]; i < starts_[base + 1]; ++i) {
      const std::size_t child = children_[i];
      most = std::max(most, longest(base_of(child), depth + 1) + (has_leaf(child) ? 1 : 0));
    }
    matches_[base] = static_cast<signed char>(std::min(most, kMaxMatches + 1));
    return matches_[base];
  }

  std::size_t offset_;
  const std::string& where_;
  std::string_view strings_;
  std::vector<std::uint32_t> units_;
  std::vector<std::uint32_t> starts_;  ///< children of base b: starts_[b] … starts_[b + 1] − 1
  std::vector<std::uint32_t> children_;
  std::vector<signed char> matches_;
};

}  // namespace

void check_charsmap(std::string_view charsmap, std::size_t offset, const std::string& where) {
  CharsmapCheck(charsmap, offset, where).run();
}

}  // namespace attn
