#include "text/sentencepiece/normalizer.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace attn {
namespace {

constexpr std::size_t kUnitBytes = 4;
constexpr std::uint32_t kTopBit = 1U << 31;

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = kUnitBytes; i-- > 0;) value = value << 8 | byte_value(bytes[at + i]);
  return value;
}

}  // namespace

CharsmapParts charsmap_parts(std::string_view charsmap) {
  const std::size_t trie_bytes = number_at(charsmap, 0);
  CharsmapParts parts;
  parts.units.resize(trie_bytes / kUnitBytes);
  for (std::size_t i = 0; i < parts.units.size(); ++i) {
    parts.units[i] = number_at(charsmap, kUnitBytes * (i + 1));
  }
  parts.strings = charsmap.substr(kUnitBytes + trie_bytes);
  return parts;
}

template <typename Visit>
void Charsmap::each_rule(std::string_view text, Visit&& visit) const {
  std::size_t node = charsmap_base(0, parts_.units[0]);
  for (std::size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
    const std::size_t child = node ^ byte_value(text[i]);
    const std::uint32_t unit = parts_.units[child];
    if ((unit & (kTopBit | 0xFF)) != byte_value(text[i])) return;
    node = charsmap_base(child, unit);
    if (!charsmap_has_leaf(unit)) continue;
    const std::string_view string = parts_.strings.substr(parts_.units[node] & ~kTopBit);
    if (!visit(Rule{i + 1, string.substr(0, string.find('\0'))})) return;
  }
}

std::optional<Charsmap::Rule> Charsmap::shortest(std::string_view text) const {
  std::optional<Rule> found;
  each_rule(text, [&](const Rule& rule) {
    found = rule;
    return false;
  });
  return found;
}

std::optional<Charsmap::Rule> Charsmap::longest(std::string_view text) const {
  std::optional<Rule> found;
  each_rule(text, [&](const Rule& rule) {
    found = rule;
    return true;
  });
  return found;
}

namespace {

constexpr std::size_t kUnit = 4;          // bytes per unit of the double array
constexpr std::size_t kBlockUnits = 256;  // the array grows in blocks of one unit per byte value
constexpr int kMaxMatches = 32;    // size of the library's array for the matches of one search
constexpr int kMaxKeyBytes = 512;  // of a rule's left side; real ones have about 20
constexpr std::uint32_t kValueBit = 1u << 31;

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = kUnit; i-- > 0;) {
    value = value << 8 | byte_value(bytes[at + i]);
  }
  return value;
}

/// Checks the trie in one pass. A unit u with label c is a child of every unit p with p ^ offset(p)
/// ^ c == u, so units are grouped by u ^ label(u), the "base" of their parents.
class CharsmapCheck {
 public:
  CharsmapCheck(std::string_view charsmap, std::size_t offset, const std::string& where)
      : offset_(offset), where_(where) {
    if (charsmap.size() <= kUnit) fail("normalization rules of fewer than 5 bytes");
    const std::size_t trie_size = little_endian(charsmap, 0);
    if (trie_size == 0 || trie_size % (kBlockUnits * kUnit) != 0 ||
        trie_size >= charsmap.size() - kUnit) {
      fail(fmt::format("{} bytes of normalization rules, whose table claims {} bytes",
                       charsmap.size(), trie_size));
    }
    CharsmapParts parts = charsmap_parts(charsmap);
    strings_ = parts.strings;
    units_ = std::move(parts.units);
  }

  void run() {
    if (strings_.back() != '\0') fail("normalization strings that do not end with a zero byte");
    if (!is_valid_utf8(strings_)) fail("normalization strings that are not UTF-8");
    for (std::size_t i = 0; i < units_.size(); ++i) {
      if (i == 0 || !(units_[i] & kValueBit)) check_unit(i);
    }
    group_children();
    matches_.assign(units_.size(), kUnknown);
    if (longest(base_of(0), 0) > kMaxMatches) {
      fail(fmt::format("more than {} normalization rules that begin alike", kMaxMatches));
    }
  }

 private:
  static constexpr signed char kUnknown = -1;

  [[noreturn]] void fail(const std::string& found) const {
    throw_damaged_file(where_, offset_, found);
  }

  std::size_t base_of(std::size_t i) const { return charsmap_base(i, units_[i]); }

  bool has_leaf(std::size_t i) const { return charsmap_has_leaf(units_[i]); }

  /// Checks that everything a search may read after reaching unit i is in range.
  void check_unit(std::size_t i) const {
    const std::size_t base = base_of(i);
    if ((base | (kBlockUnits - 1)) >= units_.size()) {
      fail(fmt::format("normalization table entry {} points to entry {} of {}", i, base,
                       units_.size()));
    }
    if (!has_leaf(i)) return;
    const std::size_t string = units_[base] & ~kValueBit;
    if (string >= strings_.size() || is_continuation_byte(strings_[string])) {
      fail(fmt::format("normalization table entry {} points to string byte {} of {}", i, string,
                       strings_.size()));
    }
  }

  /// Counting sort of the units by base; base and unit are in the same block, so the base is in
  /// range. The root is included: a search passes through it again if another unit leads there.
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

  /// Returns the largest number of matches on any path from `base` down. A cycle reaches the depth
  /// limit.
  int longest(std::size_t base, int depth) {
    if (matches_[base] != kUnknown) return matches_[base];
    if (depth > kMaxKeyBytes) fail("a normalization rule without end");
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

SentencePieceNormalizer::SentencePieceNormalizer(const NormalizerSpec& rules, bool blank_at_end,
                                                 PieceTrie user_defined)
    : rules_(rules), blank_at_end_(blank_at_end), user_defined_(std::move(user_defined)) {
  if (!rules.charsmap.empty()) charsmap_.emplace(rules.charsmap);
}

SentencePieceNormalizer::Step SentencePieceNormalizer::step(std::string_view text) const {
  std::size_t defined = 0;
  user_defined_.each_prefix(text, [&](std::size_t length, int) { defined = length; });
  if (defined > 0) return {text.substr(0, defined), defined};
  if (charsmap_) {
    if (const auto rule = charsmap_->longest(text)) return {rule->replacement, rule->length};
  }
  const std::size_t length = decode_code_point(text).length;
  return {text.substr(0, length), length};
}

std::string SentencePieceNormalizer::normalise(std::string_view text) const {
  const std::string_view blank = rules_.escape_whitespaces ? kSpaceSymbol : " ";
  std::string out;
  bool after_blank = rules_.remove_extra_whitespaces;
  bool begun = false;
  while (!text.empty()) {
    Step next = step(text);
    text.remove_prefix(next.length);
    // Leading spaces are dropped until a step gives more than one space.
    if (!begun && rules_.remove_extra_whitespaces && next.text == " ") continue;
    if (!begun && rules_.add_dummy_prefix && !blank_at_end_) out += blank;
    begun = true;
    while (after_blank && next.text.starts_with(' ')) next.text.remove_prefix(1);
    for (const char c : next.text) {
      if (c == ' ') {
        out += blank;
      } else {
        out += c;
      }
    }
    if (!next.text.empty())
      after_blank = rules_.remove_extra_whitespaces && next.text.ends_with(' ');
  }
  if (!begun) return {};
  while (rules_.remove_extra_whitespaces && out.ends_with(blank))
    out.resize(out.size() - blank.size());
  if (rules_.add_dummy_prefix && blank_at_end_) out += blank;
  return out;
}

}  // namespace attn
