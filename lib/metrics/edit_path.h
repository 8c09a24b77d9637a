// The edits that turn a hypothesis's words into its reference's, for TER.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace attn {

/// Words as numbers, equal ones for equal words.
using WordIds = std::vector<int>;

enum class Edit : char { none, keep, substitute, insert, remove };

struct EditPath {
  int edits = 0;
  std::vector<Edit> steps;  ///< from the first words on; insert: a word of the reference alone
};

/// The cheapest edits, each of cost 1 (Levenshtein 1966), looked for in a band of 25 words about
/// the diagonal as sacreBLEU does, so that the ways it takes among equals are the same.
EditPath edit_path(const WordIds& hypothesis, const WordIds& reference);

}  // namespace attn
