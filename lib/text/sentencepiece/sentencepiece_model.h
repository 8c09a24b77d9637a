// A look at a SentencePiece model file before the library gets it: SentencePiece 0.1.97 trusts the
// file, and crashes on some damaged ones.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace attn {

enum class PieceType { normal = 1, unknown, control, user_defined, unused, byte };

enum class SegmentationType { unigram = 1, bpe, word, character };

struct SentencePieceEntry {
  std::string_view text;  ///< a part of the checked bytes
  float score = 0;        ///< log-probability in unigram models
  PieceType type = PieceType::normal;
};

/// How a text is normalised, or, of the denormaliser, put in form after it is joined.
struct NormalizerSpec {
  std::string_view charsmap;  ///< (charsmap.h), a part of the checked bytes
  bool add_dummy_prefix = true;     ///< before the text, or behind it
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;  ///< as ▁
};

inline constexpr std::string_view kSpaceSymbol = "\xE2\x96\x81";  // ▁, U+2581

struct SentencePieceModel {
  SegmentationType segmentation = SegmentationType::unigram;
  bool byte_fallback = false;                       ///< what no piece covers is cut into its bytes
  std::vector<SentencePieceEntry> pieces;           ///< by SentencePiece's own id
  std::unordered_map<std::string_view, int> index;  ///< the id of each piece
  int unknown_id = 0;
  NormalizerSpec normaliser, denormaliser;
  bool treat_whitespace_as_suffix = false;                       ///< a ▁ belongs to the piece before it
  std::string_view unknown_surface = " \xE2\x81\x87 ";  ///< what <unk> becomes in a text: ⁇
};

constexpr int kByteValues = 256;

/// The value of a byte piece, "<0x0A>"; kByteValues where it is none.
int byte_value(std::string_view piece);
std::string byte_piece(int value);

/// Reads a whole model file; InputError, beginning with `where`, unless
/// - every length and number is in range and no field that the library reads occurs twice,
/// - pieces are distinct, non-empty UTF-8 of known types with finite scores, exactly one of them is
///   the unknown piece, and byte pieces are all 256 or none, as byte_fallback says,
/// - the model type is one of the library's four,
/// - the tables of normalisation rules stay inside themselves (charsmap_check.h).
SentencePieceModel parse_sentencepiece_model(std::string_view bytes, const std::string& where);

}  // namespace attn
