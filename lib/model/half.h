// Blocks of 16-bit floats, in the plain integer form that the compiler vectorises on any CPU. No
// step goes through a subnormal float, which flush-to-zero modes would lose.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace attn::half {

inline float widen_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// IEEE 754 binary16 to binary32, exact.
inline float widen_f16(std::uint16_t bits) {
  constexpr std::uint32_t kExponent = 0x7c00u << 13;  // of binary16, moved to binary32's place
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t moved = (bits & 0x7fffu) << 13;
  const std::uint32_t exponent = moved & kExponent;
  const std::uint32_t normal = moved + ((127u - 15u) << 23);
  const std::uint32_t special = normal + ((128u - 16u) << 23);  // infinity and NaN
  // A subnormal m·2⁻²⁴ is (2⁻¹⁴ + m·2⁻²⁴) − 2⁻¹⁴, both normal as floats.
  const float shifted = std::bit_cast<float>(normal + (1u << 23));
  const auto subnormal =
      std::bit_cast<std::uint32_t>(shifted - std::bit_cast<float>((127u - 14u) << 23));
  const std::uint32_t is_special = 0u - static_cast<std::uint32_t>(exponent == kExponent);
  const std::uint32_t is_subnormal = 0u - static_cast<std::uint32_t>(exponent == 0);
  const std::uint32_t magnitude =
      (special & is_special) | (subnormal & is_subnormal) | (normal & ~(is_special | is_subnormal));
  return std::bit_cast<float>(sign | magnitude);
}

/// binary32 to bfloat16, to nearest even; NaN stays NaN.
inline std::uint16_t narrow_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t nan = (bits >> 16) | 0x40u;
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

/// binary32 to binary16, to nearest even; NaN stays NaN, from 65520 on infinity.
inline std::uint16_t narrow_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t normal =
      (magnitude - ((127u - 15u) << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Adding 0.5, whose last bit is worth 2⁻²⁴, lets the float addition do a subnormal's rounding.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5f);
  const std::uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  std::uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? nan : result;
  return static_cast<std::uint16_t>(sign | result);
}

}  // namespace attn::half
