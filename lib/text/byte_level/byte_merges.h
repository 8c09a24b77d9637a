// The merges of a byte-level BPE vocabulary: merges.txt.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/vocabulary.h"

namespace attn {

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
