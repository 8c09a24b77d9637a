// Rows to 8 bits in loops that the compiler vectorises; included in the place of impl.h by the
// files for any CPU and for NEON.
#pragma once

#include "compute/int8/impl.h"

namespace attn {
namespace {

std::uint32_t largest_bits(const float* x, Index n) {
  std::uint32_t largest = 0;
  for (Index i = 0; i < n; ++i) {
    const std::uint32_t bits = magnitude_bits(x[i]);
    largest = largest < bits ? bits : largest;
  }
  return largest;
}

void round_all(const float* x, float factor, Index n, std::int8_t* out) {
  for (Index i = 0; i < n; ++i) out[i] = rounded(x[i] * factor);
}

}  // namespace
}  // namespace attn
