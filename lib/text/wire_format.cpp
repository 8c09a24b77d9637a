#include "text/wire_format.h"

#include "base/error.h"

namespace attn {

void throw_damaged(const std::string& where, std::size_t offset, const std::string& found) {
  throw InputError("{}: at byte {}: {}; expected a SentencePiece model; copy or download it again",
                   where, offset, found);
}

WireReader::WireReader(std::string_view message, std::size_t offset, const std::string& where)
    : message_(message), offset_(offset), where_(where) {}

std::uint64_t WireReader::read_varint() {
  std::uint64_t value = 0;
  const std::size_t begin = at_;
  for (int shift = 0; at_ < message_.size(); shift += 7) {
    const std::uint64_t byte = static_cast<unsigned char>(message_[at_++]);
    if (shift == 63 && byte > 1) throw_damaged(where_, offset_ + begin, "a number beyond 64 bits");
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw_damaged(where_, offset_ + begin, "a number that the file's end cuts");
}

std::string_view WireReader::take(std::uint64_t count, const char* what) {
  const std::size_t left = message_.size() - at_;
  if (count > left) {
    throw_damaged(where_, offset_ + at_,
                  fmt::format("{} of {} bytes where {} are left", what, count, left));
  }
  const std::string_view taken = message_.substr(at_, static_cast<std::size_t>(count));
  at_ += taken.size();
  return taken;
}

bool WireReader::next(WireField& field) {
  if (at_ == message_.size()) return false;
  field = WireField{};
  field.offset = offset_ + at_;
  const std::uint64_t tag = read_varint();
  const std::uint64_t number = tag >> 3;
  if (number == 0 || number >= (1u << 29)) {
    throw_damaged(where_, field.offset, fmt::format("field number {}", number));
  }
  field.number = static_cast<std::uint32_t>(number);
  const auto little_endian = [](std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
      value = value << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return value;
  };
  switch (tag & 7) {
    case 0:
      field.type = WireType::varint;
      field.value = read_varint();
      return true;
    case 1:
      field.type = WireType::fixed64;
      field.value = little_endian(take(8, "a number"));
      return true;
    case 2:
      field.type = WireType::bytes;
      field.bytes = take(read_varint(), "a field");
      return true;
    case 5:
      field.type = WireType::fixed32;
      field.value = little_endian(take(4, "a number"));
      return true;
    default:
      throw_damaged(where_, field.offset, fmt::format("wire type {}", tag & 7));
  }
}

}  // namespace attn
