#include "record/json/packed_maps.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/at.h"

namespace attn {
namespace {

constexpr unsigned kMantissaBits = 23;

/// Bits, lowest first, as pairs of letters.
class LetterBits {
 public:
  explicit LetterBits(std::string& out) : out_(out) {}

  void add(std::uint64_t bits, unsigned count) {
    waiting_ |= bits << count_;
    for (count_ += count; count_ >= 13; count_ -= 13) flush();
  }
  /// The last bits, filled up with zeros.
  void finish() {
    if (count_ > 0) flush();
    count_ = 0;
  }

 private:
  void flush() {
    constexpr std::string_view kLetters =
        "!#$%&'()*+,-./"
        "0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    static_assert(kLetters.size() == 91);
    const auto pair = static_cast<std::size_t>(waiting_ & 8191U);
    out_ += kLetters[pair % 91];
    out_ += kLetters[pair / 91];
    waiting_ >>= 13;
  }

  std::string& out_;
  std::uint64_t waiting_ = 0;
  unsigned count_ = 0;
};

void add_size(LetterBits& bits, unsigned size) {
  bits.add((std::uint64_t{1} << size / 8) - 1, size / 8 + 1);
  bits.add(size % 8, 3);
}

std::uint32_t bits_of(float weight) {
  return std::bit_cast<std::uint32_t>(weight);
}

void add_weight(LetterBits& bits, float weight) {
  const std::uint32_t word = bits_of(weight);
  const std::uint32_t exponent = word >> kMantissaBits;  // the sign is its highest bit
  if (word == 0) {
    add_size(bits, 0);
  } else if (exponent >= 1 && exponent <= 127) {
    add_size(bits, 128 - exponent);
    bits.add(word & ((1U << kMantissaBits) - 1), kMantissaBits);
  } else {
    add_size(bits, 128);
    bits.add(word, 32);
  }
}

/// Whether square maps of `side` rows have nothing after the diagonal.
bool are_triangles(std::span<const float> weights, std::size_t side) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t query = i / side % side, key = i % side;
    if (key > query && bits_of(weights[i]) != 0) return false;
  }
  return true;
}

}  // namespace

void write_packed(JsonWriter& json, std::span<const float> weights, int queries, int keys) {
  const std::size_t rows = to_size(queries), width = to_size(keys);
  const bool triangle = rows == width && are_triangles(weights, width);
  json.unescaped_string([&](std::string& out) {
    LetterBits bits(out);
    bits.add(triangle ? 1 : 0, 1);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!triangle || i % width <= i / width % rows) add_weight(bits, weights[i]);
    }
    bits.finish();
  });
}

}  // namespace attn
