// A look at a SentencePiece model file before the library gets it: SentencePiece 0.1.97 trusts the
// file, and crashes on some damaged ones.
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
  std::string_view text;  ///< a part of the checked bytes
  float score = 0;        ///< log-probability in unigram models
  PieceType type = PieceType::normal;
};

/// How a text is normalised, or, of the denormaliser, put in form after it is joined.
struct NormalizerSpec {
  std::string_view charsmap;     ///< (charsmap.h), a part of the checked bytes
  bool add_dummy_prefix = true;  ///< before the text, or behind it
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
  bool treat_whitespace_as_suffix = false;              ///< a ▁ belongs to the piece before it
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

// From a cut of a text to the pieces that SentencePiece would give.

struct SegmentedPiece {
  std::string_view text;
  bool unknown = false;  ///< no piece of the model covers it
};

/// A run of unknown parts is one piece, or, with byte_fallback, the byte pieces of each.
std::vector<std::string> expand_unknown_pieces(const std::vector<SegmentedPiece>& cut,
                                               bool byte_fallback);

// The protobuf wire format, read with every length checked: a message is a sequence of fields, each
// a number, a type and a value. See https://protobuf.dev/programming-guides/encoding/

enum class ProtobufWireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct ProtobufField {
  std::uint32_t number = 0;
  ProtobufWireType type = ProtobufWireType::varint;
  std::uint64_t value = 0;  ///< of varint, fixed64 and fixed32
  std::string_view bytes;   ///< of bytes: a part of the message
  std::size_t offset = 0;   ///< of the field's first byte in the file
  std::string_view whole;   ///< the field with its number, to copy it
};

/// Reads one message field by field. A length that leaves the message, a varint of more than ten
/// bytes, field number 0 and the obsolete groups throw InputError; embedded messages are read by a
/// reader of their own, so nesting is as deep as its callers are.
class ProtobufReader {
 public:
  /// `message` lies at byte `offset` of the file; `where` (kept by reference) begins each error.
  ProtobufReader(std::string_view message, std::size_t offset, const std::string& where);

  bool next(ProtobufField& field);  ///< false at the end of the message

 private:
  void read_value(std::uint64_t wire_type, ProtobufField& field);
  std::uint64_t read_varint();
  std::string_view take(std::uint64_t count, const char* what);

  std::string_view message_;
  std::size_t offset_;
  const std::string& where_;
  std::size_t at_ = 0;
};

/// The bytes of a field of type varint or bytes.
std::string wire_number(std::uint32_t field, std::uint64_t value);
std::string wire_bytes(std::uint32_t field, std::string_view value);

/// InputError for a damaged SentencePiece file, with the byte where it was noticed.
[[noreturn]] void throw_damaged_file(const std::string& where, std::size_t offset,
                                     const std::string& found);

}  // namespace attn
