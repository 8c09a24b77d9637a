// The protobuf wire format, read with every length checked: a message is a sequence of fields, each
// a number, a type and a value. See https://protobuf.dev/programming-guides/encoding/
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace attn {

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
