#include "view/page/packed_maps.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

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

/// A JSON number as the bits of a float: what is too large for one is infinite, and null is NaN.
std::uint32_t float_bits(const Json& number) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  const double value =
      number.is_null() ? std::numeric_limits<double>::quiet_NaN() : number.get<double>();
  if (std::isnan(value)) {
    return std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
  }
  if (std::abs(value) <= kLargest) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return std::bit_cast<std::uint32_t>(value < 0 ? -kInfinity : kInfinity);
}

void add_weight(LetterBits& bits, const Json& weight) {
  const std::uint32_t word = float_bits(weight);
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

/// Runs over [layer][head].
template <typename Look>
bool all_maps(const Json& maps, Look&& look) {
  for (const Json& heads : maps) {
    for (const Json& map : heads) {
      if (!look(map)) return false;
    }
  }
  return true;
}

bool is_triangle(const Json& map) {
  for (std::size_t q = 0; q < map.size(); ++q) {
    if (!map[q].is_array() || map[q].size() != map.size()) return false;
    for (std::size_t k = q + 1; k < map.size(); ++k) {
      if (float_bits(map[q][k]) != 0) return false;
    }
  }
  return true;
}

}  // namespace

std::string packed_maps(const Json& maps) {
  std::string out;
  LetterBits bits(out);
  const bool triangle = all_maps(maps, is_triangle);
  bits.add(triangle ? 1 : 0, 1);
  all_maps(maps, [&](const Json& map) {
    std::size_t query = 0;
    for (const Json& row : map) {
      ++query;
      if (!row.is_array()) {
        add_weight(bits, row);
        continue;
      }
      const std::size_t count = triangle ? query : row.size();
      for (std::size_t k = 0; k < count; ++k) add_weight(bits, row[k]);
    }
    return true;
  });
  bits.finish();
  return out;
}

}  // namespace attn
