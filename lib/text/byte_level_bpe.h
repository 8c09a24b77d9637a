// GPT-2's byte-level BPE (Radford et al. 2019): a text is split into words before any merge, and
// every byte of a word is written as a printable character.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/vocabulary.h"

namespace attn {

/// Splits a valid UTF-8 text into consecutive words without gaps, as the pattern
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// does: contractions; letters, numbers and symbols, each with one space before them; and runs of
/// whitespace without the character that precedes a word.
std::vector<std::string_view> byte_level_words(std::string_view text);

/// Returns the character that represents a byte: the byte itself if it is printable and not a space
/// (! to ~, ¡ to ¬, ® to ÿ), otherwise one from U+0100 on in the order of the bytes: "Ġ" is the
/// space.
char32_t byte_to_unicode(unsigned char byte);

/// Returns the bytes that a token represents; nullopt if one of its characters represents no byte.
std::optional<std::string> bytes_of_token(std::string_view piece);

/// Formats a token for people: "ĠThe" becomes "▁The", "Ã¤" becomes "ä"; bytes that form no
/// character or a control character become "<0xC3>".
std::string readable_token(std::string_view piece);

// The merges of a byte-level BPE vocabulary (merges.txt).

/// BPE merges (Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword
/// Units"): among all neighbors in a word, the pair that comes first in the list is merged, again
/// and again.
class BpeMerges {
 public:
  /// Reads the text of merges.txt: one pair "left right" per line in order of priority; lines that
  /// begin with #version are skipped. Throws InputError, beginning with `where`, unless every pair
  /// occurs once and the vocabulary contains both halves and their concatenation.
  BpeMerges(std::string_view text, const Vocabulary& vocabulary, const std::string& where);

  BpeMerges() = default;
  /// Adds a pair of lower priority than all before; `where` names it. Throws InputError as above.
  void add(std::string_view left, std::string_view right, const Vocabulary& vocabulary,
           const std::function<std::string()>& where);

  /// Merges a word in place: `ids` holds the ids of its single characters before, and of its tokens
  /// afterwards.
  void join(std::vector<int>& ids) const;

  std::size_t size() const { return merges_.size(); }

 private:
  struct Merge {
    std::uint32_t rank = 0;
    int joint = 0;  ///< the id of the merged token
  };
  /// A pair of neighbors that may still be merged.
  struct Candidate {
    std::uint32_t rank;
    std::uint32_t left;  ///< the position in the word
    int joint;
  };
  class Word;

  const Merge* find(int left, int right) const;

  std::unordered_map<std::uint64_t, Merge> merges_;  ///< key: left · 2³² + right
};

}  // namespace attn
