// Tests damaged SentencePiece models: each rule of the check, on models written byte by byte.
#include "text/sentencepiece/sentencepiece_model.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "check_error.h"
#include "text/sentencepiece/normalizer.h"

namespace attn {
namespace {

using namespace std::string_literals;
using test::check_error;

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

std::string number(std::uint32_t field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}

std::string text(std::uint32_t field, const std::string& bytes) {
  return varint(field << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string fixed32(std::uint32_t value) {
  std::string out;
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift);
  return out;
}

std::string score(std::uint32_t field, float value) {
  return varint(field << 3 | 5) + fixed32(std::bit_cast<std::uint32_t>(value));
}

std::string piece(const std::string& name, int type = 1) {
  return text(1, text(1, name) + score(2, -1.5F) + number(3, static_cast<std::uint64_t>(type)));
}

/// Returns a model of </s>, <unk>, ▁a and the given pieces.
std::string model(const std::string& more = "") {
  return piece("</s>", 3) + piece("<unk>", 2) + piece("▁a") + more;
}

void refuse_pieces(const std::string& bytes, const std::string& part) {
  CAPTURE(part);
  check_error([&] { parse_sentencepiece_model(bytes, "dir/source.spm"); }, ExitCode::input, part);
  check_error([&] { parse_sentencepiece_model(bytes, "dir/source.spm"); }, ExitCode::input,
              "dir/source.spm: at byte ");
}

TEST_CASE("a sound model's pieces are read") {
  const std::string bytes = model(text(2, number(3, 2) + number(35, 0)) + number(200, 7));
  const SentencePieceModel read = parse_sentencepiece_model(bytes, "m");
  REQUIRE(read.pieces.size() == 3);
  CHECK(read.pieces[2].text == "▁a");
  CHECK(read.pieces[0].type == PieceType::control);
  CHECK(read.unknown_id == 1);
}

TEST_CASE("damage of the wire format is refused") {
  refuse_pieces("", "an empty file");
  refuse_pieces("\x0A"s, "cut off by the end of the file");
  refuse_pieces("\x0A\x7F"s + "abc", "a field of 127 bytes, but only 3 are left");
  refuse_pieces("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"s, "are left");
  refuse_pieces(std::string(11, '\xFF'), "beyond 64 bits");
  refuse_pieces(model("\x00\x01"s), "field number 0");
  refuse_pieces(model(varint(200u << 3 | 3)), "wire type 3");
  refuse_pieces(model(varint(200u << 3 | 4)), "wire type 4");
  refuse_pieces(model(varint(200u << 3 | 7)), "wire type 7");
  refuse_pieces(model(varint(200u << 3 | 1) + "1234567"),
                "a number of 8 bytes, but only 7 are left");
  refuse_pieces(model(varint(200u << 3 | 5) + "123"), "a number of 4 bytes, but only 3 are left");
  refuse_pieces(text(1, "\x0A\x05"s + "ab"), "a field of 5 bytes, but only 2 are left");
  refuse_pieces("GIF89a, or whatever this is", "expected a SentencePiece model");
}

TEST_CASE("bad pieces are refused") {
  refuse_pieces(text(2, ""), "no pieces");
  refuse_pieces(piece("a"), "no unknown piece");
  refuse_pieces(model(piece("<u>", 2)), "piece 3: a second unknown piece");
  refuse_pieces(model(text(1, score(2, 1.0F))), "piece 3: no text");
  refuse_pieces(model(piece("")), "piece 3: no text");
  refuse_pieces(model(piece("\xC3")), "piece 3: a text that is not UTF-8");
  refuse_pieces(model(piece("a\0b"s)), "piece 3: a text with a zero byte");
  refuse_pieces(model(piece(std::string(2049, 'a'))), "piece 3: a text of 2049 bytes");
  refuse_pieces(model(piece("▁a")), "the piece \"▁a\" twice");
  refuse_pieces(model(piece("b", 0)), "piece 3: the type 0");
  refuse_pieces(model(piece("b", 7)), "piece 3: the type 7");
  const float infinity = std::numeric_limits<float>::infinity();
  refuse_pieces(model(text(1, text(1, "b") + score(2, infinity))), "piece 3: the score inf");
  refuse_pieces(model(text(1, text(1, "b") + score(2, -infinity))), "piece 3: the score -inf");
  refuse_pieces(model(text(1, text(1, "b") + score(2, infinity - infinity))), "nan");
  refuse_pieces(model(text(1, text(1, "b") + text(1, "c"))), "piece 3: a field twice");
  refuse_pieces(model(text(1, number(1, 5))), "piece 3: a field of the wrong type");
  refuse_pieces(model(number(1, 5)), "a piece of the wrong type");
}

TEST_CASE("bad settings are refused") {
  refuse_pieces(model(text(2, number(3, 0))), "model type 0");
  refuse_pieces(model(text(2, number(3, 5))), "model type 5");
  refuse_pieces(model(text(2, text(3, "x"))), "a model type of the wrong type");
  refuse_pieces(model(text(2, number(3, 1) + number(3, 2))), "a second model type");
  refuse_pieces(model(text(2, "") + text(2, "")), "a second training record");
  refuse_pieces(model(text(3, "") + text(3, "")), "a second normalizer");
  refuse_pieces(model(text(2, text(44, "\xFF"))), "the unknown surface in no UTF-8");
  refuse_pieces(model(text(3, number(3, 1) + number(3, 0))), "a second add_dummy_prefix");
}

TEST_CASE("byte pieces are all there or none") {
  refuse_pieces(model(piece("<0x41>", 6)), "in a model without byte_fallback");
  refuse_pieces(model(piece("<0x41>", 4)), "the byte piece \"<0x41>\" of another type");
  CHECK_NOTHROW(parse_sentencepiece_model(model(piece("<0x41>")), "m"));
  const std::string fallback = text(2, number(35, 1));
  refuse_pieces(model(fallback), "without the piece <0x00>");
  refuse_pieces(model(piece("<0x4g>", 6) + fallback), "the byte piece \"<0x4g>\"");
  std::string bytes;
  constexpr const char* kDigits = "0123456789ABCDEF";
  for (int i = 0; i < 256; ++i) {
    if (i == 0x7F) continue;
    bytes += piece("<0x"s + kDigits[i / 16] + kDigits[i % 16] + ">", 6);
  }
  refuse_pieces(model(bytes + fallback), "without the piece <0x7F>");
  const std::string whole = model(bytes + piece("<0x7F>", 6) + fallback);
  CHECK(parse_sentencepiece_model(whole, "m").pieces.size() == 259);
}

TEST_CASE("user-defined pieces that begin alike are bounded") {
  std::string pieces;
  for (std::size_t i = 1; i <= 64; ++i) pieces += piece(std::string(i, 'x'), 4);
  const std::string most = model(pieces);
  CHECK(parse_sentencepiece_model(most, "m").pieces.size() == 67);
  refuse_pieces(model(pieces + piece(std::string(65, 'x'), 4)), "more than 64 user-defined pieces");
}

/// A double array of one block. Its root has the child 'a' (unit 'a' ^ 0), which has a leaf.
struct Charsmap {
  std::vector<std::uint32_t> units = std::vector<std::uint32_t>(256);
  std::string strings = "b\0"s;

  /// Sets unit i to this label and offset, with label and leaf bits in Darts-clone's layout.
  void set(std::size_t i, std::uint32_t label, std::uint32_t offset, bool leaf) {
    units[i] = label | (leaf ? 0x100u : 0u) | offset << 10;
  }
  std::string bytes() const {
    std::string out = fixed32(static_cast<std::uint32_t>(units.size() * 4));
    for (const std::uint32_t unit : units) out += fixed32(unit);
    return out + strings;
  }
};

Charsmap sound_charsmap() {
  Charsmap map;
  for (std::uint32_t i = 0; i < 256; ++i) map.set(i, i ^ 1, 0, false);  // not a child of any unit
  map.set(0, 0, 2, false);                   // the root's children are units 2 ^ label
  map.set('a' ^ 2, 'a', 'a' ^ 2 ^ 4, true);  // "a": its value is unit 4
  map.units[4] = 1u << 31 | 0;
  return map;
}

void refuse_pieces(const Charsmap& map, const std::string& part) {
  CAPTURE(part);
  const std::string bytes = map.bytes();
  check_error([&] { check_charsmap(bytes, 40, "m"); }, ExitCode::input, part);
}

TEST_CASE("a sound table of normalization rules passes") {
  CHECK_NOTHROW(check_charsmap(sound_charsmap().bytes(), 0, "m"));
}

TEST_CASE("tables of normalization rules that lead outside are refused") {
  Charsmap map = sound_charsmap();
  map.set(0, 0, 256, false);
  refuse_pieces(map, "table entry 0 points to entry 256 of 256");
  map = sound_charsmap();
  map.set('a' ^ 2, 'a', 1u << 20, true);
  refuse_pieces(map, "of 256");
  map = sound_charsmap();
  map.units[4] = 1u << 31 | 2;
  refuse_pieces(map, "points to string byte 2 of 2");
  map = sound_charsmap();
  map.units[4] = 0x7FFFFFFF;  // a value does not even need the flag of a value to be read as one
  refuse_pieces(map, "points to ");
  map = sound_charsmap();
  map.strings = "b";
  refuse_pieces(map, "do not end with a zero byte");
  map.strings = "\xC3\0"s;
  refuse_pieces(map, "not UTF-8");
  map.strings = "ä\0"s;
  map.units[4] = 1u << 31 | 1;
  refuse_pieces(map, "string byte 1 of 3");
  map = sound_charsmap();
  map.strings.clear();
  refuse_pieces(map, "whose table claims 1024");
  map = sound_charsmap();
  map.units.resize(255);
  refuse_pieces(map, "whose table claims 1020");
  map.units.clear();
  refuse_pieces(map, "whose table claims 0");
}

TEST_CASE("rules without end, and too many that begin alike, are refused") {
  Charsmap map = sound_charsmap();
  map.set('a' ^ 2, 'a', 'a', false);  // "a" leads back to the root's children
  refuse_pieces(map, "a normalization rule without end");
  map = sound_charsmap();
  map.set(0, 'a', 'a', true);  // the root is its own child: "aaa…" matches any number of times
  map.units['a'] = 1u << 31;
  refuse_pieces(map, "a normalization rule without end");
  // A chain: the unit of each "aa…a" has the next base, and a leaf.
  map = Charsmap();
  map.units.resize(256 * 40);
  for (std::uint32_t i = 0; i < map.units.size(); ++i) map.set(i, (i & 0xFF) ^ 1, 0, false);
  const auto chain = [&map](std::uint32_t length) {
    std::uint32_t at = 0;
    for (std::uint32_t i = 0; i <= length; ++i) {
      const std::uint32_t base = i * 256 + 2;
      map.set(at, i == 0 ? 0 : 'a', base ^ at, i > 0);
      if (i > 0) map.units[base] = 1u << 31;
      at = base ^ 'a';
    }
  };
  chain(32);
  CHECK_NOTHROW(check_charsmap(map.bytes(), 0, "m"));
  chain(33);
  refuse_pieces(map, "more than 32 normalization rules that begin alike");
}

}  // namespace
}  // namespace attn
