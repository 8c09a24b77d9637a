#include "base/random.h"

#include <cmath>

namespace attn {
namespace {

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

}  // namespace

void fill_uniform(std::uint64_t seed, std::string_view stream, float bound, float* out,
                  std::size_t count) {
  const std::uint64_t start = mix(seed ^ fnv1a(stream.data(), stream.size()));
  const float step = bound * 0x1p-23F;  // exact unless bound is near the smallest float
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = mix(start + (i + 1) * 0x9E3779B97F4A7C15U);
    const auto centred = static_cast<std::int32_t>(bits >> 40) - (1 << 23);
    out[i] = static_cast<float>(centred) * step;
  }
}

RandomGenerator::RandomGenerator(std::uint64_t seed, std::string_view stream, std::uint64_t number)
    : state_(mix(mix(seed ^ fnv1a(stream.data(), stream.size())) + number)) {}

std::uint64_t RandomGenerator::next() {
  state_ += 0x9E3779B97F4A7C15U;
  return mix(state_);
}

std::uint64_t RandomGenerator::below(std::uint64_t n) {
  // The first 2⁶⁴ mod n numbers would make some results likelier than others.
  const std::uint64_t uneven = (0 - n) % n;
  for (;;) {
    const std::uint64_t x = next();
    if (x >= uneven) return x % n;
  }
}

float exact_sqrt(double x) {
  return static_cast<float>(std::sqrt(x));
}

std::uint64_t fnv1a(const void* data, std::size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(data);
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 0x100000001B3U;
  return hash;
}

}  // namespace attn
