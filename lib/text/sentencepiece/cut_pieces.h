// From a cut of a text to the pieces that SentencePiece would give.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

struct SegmentedPiece {
  std::string_view text;
  bool unknown = false;  ///< no piece of the model covers it
};

/// A run of unknown parts is one piece, or, with byte_fallback, the byte pieces of each.
std::vector<std::string> expand_unknown_pieces(const std::vector<SegmentedPiece>& cut, bool byte_fallback);

}  // namespace attn
