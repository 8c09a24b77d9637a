#include "text/sentencepiece/normalizer.h"

#include <cstddef>

#include "base/strings/utf8.h"

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

}  // namespace attn
