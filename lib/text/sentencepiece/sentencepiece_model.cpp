#include "text/sentencepiece/sentencepiece_model.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "text/sentencepiece/normalizer.h"

namespace attn {
namespace {

constexpr std::size_t kMaxPieceBytes = 2048;  // the library recurses once per byte
constexpr std::size_t kMaxNesting = 64;       // its limit for user-defined pieces that begin alike

/// A message field that the library reads.
struct KnownField {
  std::uint32_t number;
  ProtobufWireType type;
  const char* name;
};

class ModelCheck {
 public:
  ModelCheck(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  SentencePieceModel run() {
    if (bytes_.empty()) throw_damaged_file(where_, 0, "an empty file");
    read_model();
    if (model_.pieces.empty()) throw_damaged_file(where_, bytes_.size(), "no pieces");
    if (!unknown_) throw_damaged_file(where_, bytes_.size(), "no unknown piece");
    model_.unknown_id = *unknown_;
    index_pieces();
    check_byte_pieces();
    check_nesting();
    return std::move(model_);
  }

 private:
  /// Returns the name of a known field, or null. A wrong type or a second occurrence is treated as
  /// damage, because the library would silently read something other than what was checked here.
  const char* known(const ProtobufField& field, std::initializer_list<KnownField> fields,
                    std::set<std::uint32_t>& seen) const {
    for (const KnownField& candidate : fields) {
      if (candidate.number != field.number) continue;
      if (candidate.type != field.type) {
        throw_damaged_file(where_, field.offset,
                           fmt::format("a {} of the wrong type", candidate.name));
      }
      if (!seen.insert(field.number).second) {
        throw_damaged_file(where_, field.offset, fmt::format("a second {}", candidate.name));
      }
      return candidate.name;
    }
    return nullptr;
  }

  std::size_t offset_of(std::string_view part) const {
    return to_size(part.data() - bytes_.data());
  }

  ProtobufReader reader(std::string_view message) const {
    return ProtobufReader(message, offset_of(message), where_);
  }

  void read_model() {
    ProtobufReader fields(bytes_, 0, where_);
    ProtobufField field;
    std::set<std::uint32_t> seen;
    while (fields.next(field)) {
      if (field.number == 1) {
        if (field.type != ProtobufWireType::bytes) {
          throw_damaged_file(where_, field.offset, "a piece of the wrong type");
        }
        read_piece(field.bytes);
        continue;
      }
      if (!known(field,
                 {{2, ProtobufWireType::bytes, "training record"},
                  {3, ProtobufWireType::bytes, "normalizer"},
                  {4, ProtobufWireType::bytes, "self test"},
                  {5, ProtobufWireType::bytes, "denormalizer"}},
                 seen)) {
        continue;
      }
      if (field.number == 2) read_trainer(field.bytes);
      if (field.number == 3) model_.normaliser = read_normalizer(field.bytes);
      if (field.number == 5) model_.denormaliser = read_normalizer(field.bytes);
      if (field.number == 4) read_self_test(field.bytes);
    }
  }

  void read_piece(std::string_view message) {
    ProtobufReader fields = reader(message);
    ProtobufField field;
    SentencePieceEntry piece;
    std::uint32_t seen = 0;  // one bit per field number; a set would cost more than all the rest
    const std::size_t offset = offset_of(message);
    const auto fail = [&](const std::string& found) {
      throw_damaged_file(where_, offset, fmt::format("piece {}: {}", model_.pieces.size(), found));
    };
    while (fields.next(field)) {
      if (field.number > 3) continue;
      if (seen & (1u << field.number)) fail("a field twice");
      seen |= 1u << field.number;
      constexpr ProtobufWireType kTypes[] = {ProtobufWireType::bytes, ProtobufWireType::fixed32,
                                             ProtobufWireType::varint};
      if (field.type != kTypes[field.number - 1]) fail("a field of the wrong type");
      if (field.number == 1) piece.text = field.bytes;
      if (field.number == 2) {
        piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
        if (!std::isfinite(piece.score)) fail(fmt::format("the score {}", piece.score));
      }
      if (field.number == 3) {
        if (field.value < 1 || field.value > 6) fail(fmt::format("the type {}", field.value));
        piece.type = static_cast<PieceType>(field.value);
      }
    }
    if (piece.text.empty()) fail("no text");
    if (piece.text.size() > kMaxPieceBytes) {
      fail(fmt::format("a text of {} bytes", piece.text.size()));
    }
    if (!is_valid_utf8(piece.text)) fail("a text that is not UTF-8");
    if (piece.text.find('\0') != std::string_view::npos) fail("a text with a zero byte");
    if (piece.type == PieceType::unknown) {
      if (unknown_) fail("a second unknown piece");
      unknown_ = to_int(model_.pieces.size());
    }
    model_.pieces.push_back(piece);
  }

  void read_trainer(std::string_view message) {
    ProtobufReader fields = reader(message);
    ProtobufField field;
    std::set<std::uint32_t> seen;
    while (fields.next(field)) {
      const char* name = known(field,
                               {{3, ProtobufWireType::varint, "model type"},
                                {24, ProtobufWireType::varint, "treat_whitespace_as_suffix"},
                                {35, ProtobufWireType::varint, "byte_fallback"},
                                {44, ProtobufWireType::bytes, "unknown surface"},
                                {45, ProtobufWireType::bytes, "name of the unknown piece"},
                                {46, ProtobufWireType::bytes, "name of the begin piece"},
                                {47, ProtobufWireType::bytes, "name of the end piece"},
                                {48, ProtobufWireType::bytes, "name of the padding piece"}},
                               seen);
      if (!name) continue;
      if (field.number == 3 && (field.value < 1 || field.value > 4)) {
        throw_damaged_file(where_, field.offset,
                           fmt::format("model type {} (known: 1 to 4)", field.value));
      }
      if (field.number == 3) model_.segmentation = static_cast<SegmentationType>(field.value);
      if (field.number == 24) model_.treat_whitespace_as_suffix = field.value != 0;
      if (field.number == 35) model_.byte_fallback = field.value != 0;
      if (field.number == 44) model_.unknown_surface = field.bytes;
      if (field.type == ProtobufWireType::bytes && !is_valid_utf8(field.bytes)) {
        throw_damaged_file(where_, field.offset, fmt::format("the {} in no UTF-8", name));
      }
    }
  }

  NormalizerSpec read_normalizer(std::string_view message) {
    NormalizerSpec rules;
    ProtobufReader fields = reader(message);
    ProtobufField field;
    std::set<std::uint32_t> seen;
    while (fields.next(field)) {
      if (!known(field,
                 {{2, ProtobufWireType::bytes, "table of normalization rules"},
                  {3, ProtobufWireType::varint, "add_dummy_prefix"},
                  {4, ProtobufWireType::varint, "remove_extra_whitespaces"},
                  {5, ProtobufWireType::varint, "escape_whitespaces"}},
                 seen)) {
        continue;
      }
      if (field.number == 2) rules.charsmap = field.bytes;
      if (field.number == 3) rules.add_dummy_prefix = field.value != 0;
      if (field.number == 4) rules.remove_extra_whitespaces = field.value != 0;
      if (field.number == 5) rules.escape_whitespaces = field.value != 0;
    }
    if (!rules.charsmap.empty()) check_charsmap(rules.charsmap, offset_of(rules.charsmap), where_);
    return rules;
  }

  void read_self_test(std::string_view message) {
    ProtobufReader samples = reader(message);
    ProtobufField sample;
    while (samples.next(sample)) {
      if (sample.number != 1 || sample.type != ProtobufWireType::bytes) continue;
      ProtobufReader fields = reader(sample.bytes);
      ProtobufField field;
      while (fields.next(field)) {
      }
    }
  }

  void index_pieces() {
    model_.index.reserve(model_.pieces.size());
    for (const SentencePieceEntry& piece : model_.pieces) {
      if (!model_.index.emplace(piece.text, to_int(model_.index.size())).second) {
        throw_damaged_file(where_, offset_of(piece.text),
                           fmt::format("the piece \"{}\" twice", excerpt(piece.text)));
      }
    }
  }

  void check_byte_pieces() const {
    std::array<bool, kByteValues> found{};
    for (const SentencePieceEntry& piece : model_.pieces) {
      const int value = byte_value(piece.text);
      const bool ordinary = piece.type == PieceType::normal || piece.type == PieceType::unused;
      if (value < kByteValues && piece.type != PieceType::byte && !ordinary) {
        throw_damaged_file(where_, offset_of(piece.text),
                           fmt::format("the byte piece \"{}\" of another type", piece.text));
      }
      if (piece.type != PieceType::byte) continue;
      if (!model_.byte_fallback || value == kByteValues) {
        throw_damaged_file(where_, offset_of(piece.text),
                           fmt::format("the byte piece \"{}\" {}", excerpt(piece.text),
                                       model_.byte_fallback ? "(<0x00> to <0xFF> are known)"
                                                            : "in a model without byte_fallback"));
      }
      at(found, value) = true;
    }
    const auto missing = std::find(found.begin(), found.end(), false);
    if (model_.byte_fallback && missing != found.end()) {
      throw_damaged_file(
          where_, bytes_.size(),
          fmt::format("byte_fallback without the piece <0x{:02X}>", missing - found.begin()));
    }
  }

  /// The pieces are sorted, and the stack holds those that the current piece begins with.
  void check_nesting() const {
    std::vector<std::string_view> sorted;
    for (const SentencePieceEntry& piece : model_.pieces) {
      if (piece.type == PieceType::user_defined) sorted.push_back(piece.text);
    }
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::string_view> prefixes;
    for (const std::string_view text : sorted) {
      while (!prefixes.empty() && !text.starts_with(prefixes.back())) prefixes.pop_back();
      prefixes.push_back(text);
      if (prefixes.size() > kMaxNesting) {
        throw_damaged_file(
            where_, offset_of(text),
            fmt::format("more than {} user-defined pieces that begin alike", kMaxNesting));
      }
    }
  }

  std::string_view bytes_;
  const std::string& where_;
  SentencePieceModel model_;
  std::optional<int> unknown_;
};

}  // namespace

int byte_value(std::string_view piece) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return kByteValues;
  const std::size_t high = kDigits.find(piece[3]);
  const std::size_t low = kDigits.find(piece[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return kByteValues;
  return to_int(high * 16 + low);
}

std::string byte_piece(int value) {
  return fmt::format("<0x{:02X}>", value);
}

SentencePieceModel parse_sentencepiece_model(std::string_view bytes, const std::string& where) {
  return ModelCheck(bytes, where).run();
}

std::vector<std::string> expand_unknown_pieces(const std::vector<SegmentedPiece>& cut,
                                               bool byte_fallback) {
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

ProtobufReader::ProtobufReader(std::string_view message, std::size_t offset,
                               const std::string& where)
    : message_(message), offset_(offset), where_(where) {}

std::uint64_t ProtobufReader::read_varint() {
  std::uint64_t value = 0;
  const std::size_t begin = at_;
  for (int shift = 0; at_ < message_.size(); shift += 7) {
    const std::uint64_t byte = byte_value(message_[at_++]);
    if (shift == 63 && byte > 1)
      throw_damaged_file(where_, offset_ + begin, "a number beyond 64 bits");
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw_damaged_file(where_, offset_ + begin, "a number that is cut off by the end of the file");
}

std::string_view ProtobufReader::take(std::uint64_t count, const char* what) {
  const std::size_t left = message_.size() - at_;
  if (count > left) {
    throw_damaged_file(where_, offset_ + at_,
                       fmt::format("{} of {} bytes, but only {} are left", what, count, left));
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
