// Fuzzes normalization rules. The text before the first 0xFF is searched in the rules after it,
// like in the library. A search in rules that passed the check must stay inside them.
#include <cstring>
#include <vector>

#include "base/strings/utf8.h"
#include "fuzz.h"
#include "text/sentencepiece/normalizer.h"

using namespace attn;

namespace {

/// Runs Darts-clone's commonPrefixSearch with every index checked; see
/// https://github.com/s-yata/darts-clone. Returns the number of matches.
int search(const std::vector<std::uint32_t>& units, std::string_view strings,
           std::string_view key) {
  const auto unit = [&](std::size_t at) {
    fuzz::require(at < units.size(), "a search stays inside the table");
    return units[at];
  };
  const auto offset = [](std::uint32_t value) {
    return std::size_t{value >> 10} << ((value & 0x200) >> 6);
  };
  int matches = 0;
  std::size_t at = offset(unit(0));
  for (const char c : key) {
    at ^= byte_value(c);
    const std::uint32_t here = unit(at);
    if ((here & 0x800000ffU) != byte_value(c)) break;
    at ^= offset(here);
    if ((here & 0x100) == 0) continue;
    ++matches;
    const std::size_t string = unit(at) & 0x7fffffffU;
    fuzz::require(string < strings.size(), "a replacement lies inside the strings");
    const std::size_t end = strings.find('\0', string);
    fuzz::require(end != strings.npos, "a replacement ends");
    fuzz::require(is_valid_utf8(strings.substr(string, end - string)), "a replacement is UTF-8");
  }
  return matches;
}

}  // namespace

FUZZ(bytes) {
  std::string_view rules = bytes;
  std::string_view text = fuzz::take_part(rules);
  if (!fuzz::accepts([&] { check_charsmap(rules, 0, "source.spm"); })) return;
  std::uint32_t size = 0;
  std::memcpy(&size, rules.data(), sizeof size);
  std::vector<std::uint32_t> units(size / 4);
  std::memcpy(units.data(), rules.data() + 4, size);
  for (; !text.empty(); text.remove_prefix(1)) {
    fuzz::require(search(units, rules.substr(4 + size), text) <= 32, "room for all matches");
  }
}
