// The normalization rules inside a SentencePiece model: a Darts-clone double array whose values are
// offsets into a block of replacement strings (check_charsmap() validates them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentencepiece/piece_trie.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace attn {

/// The units of the array, and the replacement strings after them.
struct CharsmapParts {
  std::vector<std::uint32_t> units;
  std::string_view strings;
};

/// Splits a precompiled_charsmap that is as long as its first number says.
CharsmapParts charsmap_parts(std::string_view charsmap);

/// Returns the base of the unit at `place`; XOR with a byte gives the index of a child.
constexpr std::size_t charsmap_base(std::size_t place, std::uint32_t unit) {
  return place ^ (std::size_t{unit >> 10} << ((unit & 0x200) >> 6));
}

/// True if a rule ends at this unit; its value is then stored at the unit's base.
constexpr bool charsmap_has_leaf(std::uint32_t unit) {
  return (unit & 0x100) != 0;
}

/// The rules of a checked precompiled_charsmap. Keeps views of its bytes.
class Charsmap {
 public:
  explicit Charsmap(std::string_view charsmap) : parts_(charsmap_parts(charsmap)) {}

  struct Rule {
    std::size_t length = 0;  ///< bytes that are replaced
    std::string_view replacement;
  };

  /// Return the shortest or the longest rule that `text` begins with; nullopt if there is none.
  std::optional<Rule> shortest(std::string_view text) const;
  std::optional<Rule> longest(std::string_view text) const;

 private:
  /// Calls visit(rule) for each rule that `text` begins with, the shortest first, until it returns
  /// false.
  template <typename Visit>
  void each_rule(std::string_view text, Visit&& visit) const;

  CharsmapParts parts_;
};

// Validation of the normalization rules before their first use: the SentencePiece library follows
// their indices unchecked.

/// Checks a whole precompiled_charsmap field at byte `offset` of the file `where`. Throws
/// InputError unless every index that a search can follow stays inside `charsmap`, no search finds
/// more matches than the library has room for, and replacements are whole UTF-8 strings.
void check_charsmap(std::string_view charsmap, std::size_t offset, const std::string& where);

// SentencePiece's normalization: the rules of the model's charsmap, and spaces as ▁.

class SentencePieceNormalizer {
 public:
  /// Leaves user-defined pieces unchanged. The checked bytes of `rules` must outlive this object.
  SentencePieceNormalizer(const NormalizerSpec& rules, bool blank_at_end, PieceTrie user_defined);

  /// Normalizes valid UTF-8 without zero bytes.
  std::string normalise(std::string_view text) const;

 private:
  /// The replacement of the beginning of a text, and the number of bytes it replaces.
  struct Step {
    std::string_view text;
    std::size_t length = 0;
  };
  Step step(std::string_view text) const;

  NormalizerSpec rules_;
  bool blank_at_end_;  ///< the added ▁ goes after the text
  std::optional<Charsmap> charsmap_;
  PieceTrie user_defined_;
};

}  // namespace attn
