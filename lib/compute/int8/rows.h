// Quantization of rows in loops that the compiler vectorizes; included next to impl.h by the
// portable and NEON files.
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
