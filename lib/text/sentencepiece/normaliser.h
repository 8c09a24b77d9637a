// What SentencePiece does to a text before it cuts it: the rules of the model's charsmap, and its
// blanks as ▁.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/sentencepiece/normalizer.h"
#include "text/sentencepiece/piece_trie.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace attn {

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
