#include "text/sentencepiece/cut_pieces.h"

#include "text/sentencepiece/sentencepiece_model.h"

namespace attn {

std::vector<std::string> expand_unknown_pieces(const std::vector<SegmentedPiece>& cut, bool byte_fallback) {
  std::vector<std::string> pieces;
  pieces.reserve(cut.size());
  bool after_unknown = false;
  for (const auto& [piece, unknown] : cut) {
    if (unknown && byte_fallback) {
      for (const char byte : piece) {
        pieces.push_back(byte_piece(static_cast<unsigned char>(byte)));
      }
    } else if (unknown && after_unknown) {
      pieces.back() += piece;
    } else {
      pieces.emplace_back(piece);
    }
    after_unknown = unknown;
  }
  return pieces;
}

}  // namespace attn
