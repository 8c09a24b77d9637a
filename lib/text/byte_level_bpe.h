// The two ideas of GPT-2's byte-level BPE (Radford et al. 2019) besides BPE itself: a text is cut
// into words before any merge, and every byte of a word is written as a printable character.
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

/// The words of a valid UTF-8 text, one after another without gaps. As the pattern
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// finds them: contractions, letters, numbers and signs each with one blank before them, and runs
/// of white space without the character that precedes a word.
std::vector<std::string_view> byte_level_words(std::string_view text);

/// The character that stands for a byte: itself where it is printable and no blank (! to ~, ¡ to ¬,
/// ® to ÿ), else one from U+0100 on in the bytes' order: "Ġ" is the blank.
char32_t byte_to_unicode(unsigned char byte);

/// The bytes that a piece stands for; nothing where one of its characters stands for none.
std::optional<std::string> bytes_of_token(std::string_view piece);

/// A piece for people: "ĠThe" is "▁The", "Ã¤" is "ä"; bytes that make no character or a control
/// character are "<0xC3>".
std::string readable_token(std::string_view piece);

// The merges of a byte-level BPE vocabulary: merges.txt.

/// Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units": of all
/// neighbours in a word, the pair that stands first in the list is joined, again and again.
class BpeMerges {
 public:
  /// The text of merges.txt: a pair "left right" a line, the earlier the stronger; lines that begin
  /// with #version are none. InputError, beginning with `where`, unless every pair occurs once and
  /// its halves and the two together are pieces of the vocabulary.
  BpeMerges(std::string_view text, const Vocabulary& vocabulary, const std::string& where);

  BpeMerges() = default;
  /// One more pair, weaker than those before; `where` names it. InputError as above.
  void add(std::string_view left, std::string_view right, const Vocabulary& vocabulary,
           const std::function<std::string()>& where);

  /// Ids of a word's single characters in, of its pieces out; `ids` is the word.
  void join(std::vector<int>& ids) const;

  std::size_t size() const { return merges_.size(); }

 private:
  struct Merge {
    std::uint32_t rank = 0;
    int joint = 0;  ///< the id of both together
  };
  /// A pair of neighbours whose turn has not come yet.
  struct Candidate {
    std::uint32_t rank;
    std::uint32_t left;  ///< its place in the word
    int joint;
  };
  class Word;

  const Merge* find(int left, int right) const;

  std::unordered_map<std::uint64_t, Merge> merges_;  ///< by left · 2³² + right
};

}  // namespace attn
