// 16-bit floats. Narrowing uses Eigen. Widening, which dominates loading, uses plain integer code
// that the compiler vectorizes on any CPU: 16 times as fast as Eigen's. No step passes through a
// subnormal float, which flush-to-zero modes would lose.
#pragma once

#include <Eigen/Core>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace attn::half {

enum class Format : std::uint8_t { f16, bf16 };

/// Converts bfloat16 to binary32, exactly.
inline float widen_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Converts IEEE 754 binary16 to binary32, exactly.
inline float widen_f16(std::uint16_t bits) {
  constexpr std::uint32_t kExponent =
      0x7c00u << 13;  // binary16's exponent bits, moved to binary32's position
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t moved = (bits & 0x7fffu) << 13;
  const std::uint32_t exponent = moved & kExponent;
  const std::uint32_t normal = moved + ((127u - 15u) << 23);
  const std::uint32_t special = normal + ((128u - 16u) << 23);  // infinity and NaN
  // Computes a subnormal m·2⁻²⁴ as (2⁻¹⁴ + m·2⁻²⁴) − 2⁻¹⁴; both terms are normal floats.
  const float shifted = std::bit_cast<float>(normal + (1u << 23));
  const auto subnormal =
      std::bit_cast<std::uint32_t>(shifted - std::bit_cast<float>((127u - 14u) << 23));
  const std::uint32_t is_special = 0u - static_cast<std::uint32_t>(exponent == kExponent);
  const std::uint32_t is_subnormal = 0u - static_cast<std::uint32_t>(exponent == 0);
  const std::uint32_t magnitude =
      (special & is_special) | (subnormal & is_subnormal) | (normal & ~(is_special | is_subnormal));
  return std::bit_cast<float>(sign | magnitude);
}

/// Widens the number at `from`, which may be unaligned.
inline float widen(Format format, const std::byte* from) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  return format == Format::f16 ? widen_f16(bits) : widen_bf16(bits);
}

/// Widens `count` contiguous numbers beginning at `from`.
inline void widen(Format format, const std::byte* from, std::ptrdiff_t count, float* out) {
  const auto all = [&](auto widen_one) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, from + 2 * i, sizeof bits);
      out[i] = widen_one(bits);
    }
  };
  if (format == Format::f16) {
    all([](std::uint16_t bits) { return widen_f16(bits); });
  } else {
    all([](std::uint16_t bits) { return widen_bf16(bits); });
  }
}

/// Converts binary32 to bfloat16, rounding to nearest even; NaN stays NaN.
inline std::uint16_t narrow_bf16(float value) {
  return Eigen::numext::bit_cast<std::uint16_t>(Eigen::bfloat16(value));
}

/// Converts binary32 to binary16, rounding to nearest even; NaN stays NaN, and values from 65520
/// become infinity.
inline std::uint16_t narrow_f16(float value) {
  return Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(value));
}

}  // namespace attn::half
