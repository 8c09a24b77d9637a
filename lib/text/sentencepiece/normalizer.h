// The normalisation rules inside a SentencePiece model: a Darts-clone double array whose values are
// offsets into a block of replacement strings (charsmap_check.h checks them).
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

/// The array's units as numbers, and the strings behind them.
struct CharsmapParts {
  std::vector<std::uint32_t> units;
  std::string_view strings;
};

/// Of a precompiled_charsmap that is as long as its first number says.
CharsmapParts charsmap_parts(std::string_view charsmap);

/// What a unit's place is combined with for its children's places.
constexpr std::size_t charsmap_base(std::size_t place, std::uint32_t unit) {
  return place ^ (std::size_t{unit >> 10} << ((unit & 0x200) >> 6));
}

/// Whether a rule ends here; its value then stands at the unit's base.
constexpr bool charsmap_has_leaf(std::uint32_t unit) {
  return (unit & 0x100) != 0;
}

/// A checked precompiled_charsmap: what stands for what begins a text. Keeps views of its bytes.
class Charsmap {
 public:
  explicit Charsmap(std::string_view charsmap) : parts_(charsmap_parts(charsmap)) {}

  struct Rule {
    std::size_t length = 0;  ///< of what is replaced, in bytes
    std::string_view replacement;
  };

  /// The shortest rule that `text` begins with, or the longest; nothing where there is none.
  std::optional<Rule> shortest(std::string_view text) const;
  std::optional<Rule> longest(std::string_view text) const;

 private:
  /// Calls visit(rule) for each rule that `text` begins with, the shortest first, while it says to
  /// go on.
  template <typename Visit>
  void each_rule(std::string_view text, Visit&& visit) const;

  CharsmapParts parts_;
};

// A look at the normalisation rules inside a SentencePiece model (charsmap.h) before anybody uses
// them: the library follows their indices without one.

/// InputError unless every index that a search can follow stays inside `charsmap` (a whole
/// precompiled_charsmap field, at byte `offset` of the file that `where` names), no search finds
/// more matches than the library has room for, and replacements are whole UTF-8 strings.
void check_charsmap(std::string_view charsmap, std::size_t offset, const std::string& where);

// What SentencePiece does to a text before it cuts it: the rules of the model's charsmap, and its
// blanks as ▁.

class SentencePieceNormalizer {
 public:
  /// Pieces that the user defined pass as they are. The checked bytes of `rules` outlive this.
  SentencePieceNormalizer(const NormalizerSpec& rules, bool blank_at_end, PieceTrie user_defined);

  /// Of valid UTF-8 without zero bytes.
  std::string normalise(std::string_view text) const;

 private:
  /// What the text's beginning becomes, and how many bytes that takes.
  struct Step {
    std::string_view text;
    std::size_t length = 0;
  };
  Step step(std::string_view text) const;

  NormalizerSpec rules_;
  bool blank_at_end_;  ///< the ▁ that is added stands behind the text
  std::optional<Charsmap> charsmap_;
  PieceTrie user_defined_;
};

}  // namespace attn
