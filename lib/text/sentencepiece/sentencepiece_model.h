// SentencePiece model files, validated before the library reads them: SentencePiece 0.1.97 trusts
// the file and crashes on some damaged ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace attn {

enum class PieceType { normal = 1, unknown, control, user_defined, unused, byte };

enum class SegmentationType { unigram = 1, bpe, word, character };

struct SentencePieceEntry {
  std::string_view text;  ///< a view into the checked bytes
  float score = 0;        ///< log-probability in unigram models
  PieceType type = PieceType::normal;
};

/// The rules that normalize a text, or for the denormalizer, those applied after joining.
struct NormalizerSpec {
  std::string_view charsmap;     ///< a view into the checked bytes (normalizer.h)
  bool add_dummy_prefix = true;  ///< before the text, or after it
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;  ///< as ▁
};

inline constexpr std::string_view kSpaceSymbol = "\xE2\x96\x81";  // ▁, U+2581

struct SentencePieceModel {
  SegmentationType segmentation = SegmentationType::unigram;
  bool byte_fallback = false;                       ///< split what no piece covers into its bytes
  std::vector<SentencePieceEntry> pieces;           ///< by SentencePiece's own id
  std::unordered_map<std::string_view, int> index;  ///< the id of each piece
  int unknown_id = 0;
  NormalizerSpec normaliser, denormaliser;
  bool treat_whitespace_as_suffix = false;              ///< a ▁ belongs to the piece before it
  std::string_view unknown_surface = " \xE2\x81\x87 ";  ///< the decoded text of <unk>: ⁇
};

constexpr int kByteValues = 256;

/// Returns the value of a byte piece such as "<0x0A>", or kByteValues for any other piece.
int byte_value(std::string_view piece);
std::string byte_piece(int value);

/// Reads a whole model file. Throws InputError, beginning with `where`, unless
/// - every length and number is in range and no field that the library reads occurs twice,
/// - pieces are distinct, non-empty UTF-8 of known types with finite scores, exactly one of them is
///   the unknown piece, and there are 256 byte pieces or none, as byte_fallback says,
/// - the model type is one of the library's four,
/// - the tables of normalization rules refer only to themselves (check_charsmap() in normalizer.h).
SentencePieceModel parse_sentencepiece_model(std::string_view bytes, const std::string& where);

// Conversion of a segmentation to the pieces that SentencePiece returns.

struct SegmentedPiece {
  std::string_view text;
  bool unknown = false;  ///< not covered by any piece of the model
};

/// Merges a run of unknown parts into one piece or, with byte_fallback, replaces each by its byte
/// pieces.
std::vector<std::string> expand_unknown_pieces(const std::vector<SegmentedPiece>& cut,
                                               bool byte_fallback);

// The protobuf wire format, read with checks of every length: a message is a sequence of fields,
// each with a number, a type and a value. See https://protobuf.dev/programming-guides/encoding/

enum class ProtobufWireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct ProtobufField {
  std::uint32_t number = 0;
  ProtobufWireType type = ProtobufWireType::varint;
  std::uint64_t value = 0;  ///< for varint, fixed64 and fixed32
  std::string_view bytes;   ///< for bytes: a view into the message
  std::size_t offset = 0;   ///< of the field's first byte in the file
  std::string_view whole;   ///< the field with its number, for copying
};

/// Reads one message field by field. Throws InputError for a length beyond the message, a varint of
/// more than ten bytes, field number 0 and the obsolete groups. Embedded messages need a reader of
/// their own, so the callers limit the nesting.
class ProtobufReader {
 public:
  /// `message` starts at byte `offset` of the file; `where` (kept by reference) begins each error.
  ProtobufReader(std::string_view message, std::size_t offset, const std::string& where);

  bool next(ProtobufField& field);  ///< returns false at the end of the message

 private:
  void read_value(std::uint64_t wire_type, ProtobufField& field);
  std::uint64_t read_varint();
  std::string_view take(std::uint64_t count, const char* what);

  std::string_view message_;
  std::size_t offset_;
  const std::string& where_;
  std::size_t at_ = 0;
};

/// Encode a field of type varint or bytes.
std::string wire_number(std::uint32_t field, std::uint64_t value);
std::string wire_bytes(std::uint32_t field, std::string_view value);

/// Throws InputError for a damaged SentencePiece file with the byte offset of the damage.
[[noreturn]] void throw_damaged_file(const std::string& where, std::size_t offset,
                                     const std::string& found);

}  // namespace attn
