#include "text/sentencepiece/protobuf_reader.h"
#include "base/at.h"
#include "base/strings/utf8.h"

#include "base/error.h"

namespace attn {
namespace {

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | byte_value(bytes[i]);
  }
  return value;
}

}  // namespace

std::string wire_number(std::uint32_t field, std::uint64_t value) {
  return varint(std::uint64_t{field} << 3) + varint(value);
}

std::string wire_bytes(std::uint32_t field, std::string_view value) {
  return varint(std::uint64_t{field} << 3 | 2) + varint(value.size()) + std::string(value);
}

void throw_damaged_file(const std::string& where, std::size_t offset, const std::string& found) {
  throw InputError("{}: at byte {}: {}; expected a SentencePiece model; copy or download it again",
                   where, offset, found);
}

ProtobufReader::ProtobufReader(std::string_view message, std::size_t offset, const std::string& where)
    : message_(message), offset_(offset), where_(where) {}

std::uint64_t ProtobufReader::read_varint() {
  std::uint64_t value = 0;
  const std::size_t begin = at_;
  for (int shift = 0; at_ < message_.size(); shift += 7) {
    const std::uint64_t byte = byte_value(message_[at_++]);
    if (shift == 63 && byte > 1) throw_damaged_file(where_, offset_ + begin, "a number beyond 64 bits");
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw_damaged_file(where_, offset_ + begin, "a number that the file's end cuts");
}

std::string_view ProtobufReader::take(std::uint64_t count, const char* what) {
  const std::size_t left = message_.size() - at_;
  if (count > left) {
    throw_damaged_file(where_, offset_ + at_,
                  fmt::format("{} of {} bytes where {} are left", what, count, left));
  }
  const std::string_view taken = message_.substr(at_, to_size(count));
  at_ += taken.size();
  return taken;
}

bool ProtobufReader::next(ProtobufField& field) {
  if (at_ == message_.size()) return false;
  field = ProtobufField{};
  const std::size_t begin = at_;
  field.offset = offset_ + begin;
  const std::uint64_t tag = read_varint();
  const std::uint64_t number = tag >> 3;
  if (number == 0 || number >= (1u << 29)) {
    throw_damaged_file(where_, field.offset, fmt::format("field number {}", number));
  }
  field.number = narrow_cast<std::uint32_t>(number);
  read_value(tag & 7, field);
  field.whole = message_.substr(begin, at_ - begin);
  return true;
}

void ProtobufReader::read_value(std::uint64_t wire_type, ProtobufField& field) {
  field.type = static_cast<ProtobufWireType>(wire_type);
  switch (field.type) {
    case ProtobufWireType::varint:
      field.value = read_varint();
      return;
    case ProtobufWireType::fixed64:
      field.value = little_endian(take(8, "a number"));
      return;
    case ProtobufWireType::bytes:
      field.bytes = take(read_varint(), "a field");
      return;
    case ProtobufWireType::fixed32:
      field.value = little_endian(take(4, "a number"));
      return;
  }
  throw_damaged_file(where_, field.offset, fmt::format("wire type {}", wire_type));
}

}  // namespace attn
