#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/at.h"
#include "compute/half.h"

namespace attn::half {
namespace {

/// Returns the value of a binary16 number by its definition.
double f16_value(unsigned bits) {
  const int exponent = to_int((bits >> 10) & 31);
  const int mantissa = to_int(bits & 1023);
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST_CASE("every F16 and BF16 is widened exactly and narrowed back to itself") {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float f16 = widen_f16(half);
    if ((bits & 0x7c00) == 0x7c00) {
      const bool nan = (bits & 0x3ff) != 0;
      if (nan ? !std::isnan(f16) : !std::isinf(f16)) FAIL("f16 ", bits);
    } else if (f16 != f16_value(bits)) {
      FAIL("f16 ", bits);
    }
    if (std::signbit(f16) != ((bits & 0x8000) != 0)) FAIL("f16 sign ", bits);
    if (std::isnan(f16) ? !std::isnan(widen_f16(narrow_f16(f16))) : narrow_f16(f16) != half) {
      FAIL("f16 back ", bits);
    }
    const float bf16 = widen_bf16(half);
    if (std::bit_cast<std::uint32_t>(bf16) != bits << 16) FAIL("bf16 ", bits);
    if (std::isnan(bf16) ? !std::isnan(widen_bf16(narrow_bf16(bf16))) : narrow_bf16(bf16) != half) {
      FAIL("bf16 back ", bits);
    }
  }
}

/// Checks that `narrowed` is the neighbor of `value` that rounding to nearest even chooses. Bits
/// are compared in order of magnitude, where adding 1 gives the next larger one.
template <typename Widen>
bool is_nearest_even(float value, unsigned narrowed, Widen widen) {
  const auto distance = [&](unsigned bits) {
    return std::fabs(static_cast<double>(widen(static_cast<std::uint16_t>(bits))) - value);
  };
  const double here = distance(narrowed);
  const bool at_zero = (narrowed & 0x7fff) == 0;
  for (const unsigned other : {narrowed + 1, at_zero ? narrowed : narrowed - 1}) {
    if (distance(other) < here) return false;
    if (other != narrowed && distance(other) == here && (narrowed & 1) != 0) return false;
  }
  return true;
}

TEST_CASE("narrowing rounds to nearest even") {
  CHECK(narrow_f16(1.00048828125f) == 0x3c00);  // ties: down to even
  CHECK(narrow_f16(1.00146484375f) == 0x3c02);  // and up to even
  CHECK(narrow_f16(0x1p-25f) == 0);             // half the smallest subnormal
  CHECK(narrow_f16(std::nextafterf(0x1p-25f, 1)) == 1);
  CHECK(narrow_f16(-0x1.8p-24f) == 0x8002);
  CHECK(narrow_f16(std::nextafterf(0x1p-14f, 0)) == 0x0400);
  CHECK(narrow_f16(65519.99f) == 0x7bff);
  CHECK(narrow_f16(65520) == 0x7c00);
  CHECK(narrow_f16(1e-45f) == 0);
  CHECK(narrow_f16(-0.0f) == 0x8000);
  CHECK(narrow_bf16(0x1.01p0f) == 0x3f80);
  CHECK(narrow_bf16(0x1.03p0f) == 0x3f82);
  CHECK(narrow_bf16(std::numeric_limits<float>::max()) == 0x7f80);
  CHECK(std::isnan(widen_bf16(narrow_bf16(std::bit_cast<float>(0x7f800001u)))));
  CHECK(std::isnan(widen_f16(narrow_f16(std::bit_cast<float>(0xff800001u)))));
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) {
    const float value = std::bit_cast<float>(narrow_cast<std::uint32_t>(random()));
    if (!std::isfinite(value)) continue;
    // In the range of F16: the exponent is folded into −26 … 15.
    int exponent = 0;
    const float small = std::ldexp(std::frexp(value, &exponent), (exponent + 1000) % 42 - 26);
    if (std::fabs(small) < 65504 && !is_nearest_even(small, narrow_f16(small), widen_f16)) {
      FAIL("f16 of ", small);
    }
    if (std::fabs(value) < 3e38f && !is_nearest_even(value, narrow_bf16(value), widen_bf16)) {
      FAIL("bf16 of ", value);
    }
  }
}

}  // namespace
}  // namespace attn::half
