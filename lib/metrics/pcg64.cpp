#include "metrics/pcg64.h"

#include <array>
#include <bit>

namespace attn {
namespace {

/// A number hashed with a constant that changes from call to call (O'Neill's seed_seq_fe).
class Hash {
 public:
  Hash(std::uint32_t constant, std::uint32_t multiplier)
      : constant_(constant), multiplier_(multiplier) {}
  std::uint32_t operator()(std::uint32_t value) {
    value ^= constant_;
    constant_ *= multiplier_;
    value *= constant_;
    return value ^ (value >> 16);
  }

 private:
  std::uint32_t constant_, multiplier_;
};

std::uint32_t mixed(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t result = 0xCA01F9DDU * x - 0x4973F715U * y;
  return result ^ (result >> 16);
}

/// SeedSequence(seed).generate_state(4, uint64).
std::array<std::uint64_t, 4> seed_state(std::uint64_t seed) {
  std::array<std::uint32_t, 4> pool = {static_cast<std::uint32_t>(seed),
                                       static_cast<std::uint32_t>(seed >> 32), 0, 0};
  Hash in(0x43B0D7E5U, 0x931E8875U);
  for (std::uint32_t& word : pool) word = in(word);
  for (std::size_t from = 0; from < pool.size(); ++from) {
    for (std::size_t to = 0; to < pool.size(); ++to) {
      if (from != to) pool[to] = mixed(pool[to], in(pool[from]));
    }
  }
  Hash out(0x8B51F9DDU, 0x58F38DEDU);
  std::array<std::uint64_t, 4> state{};
  for (std::size_t i = 0; i < 8; ++i) {
    state[i / 2] |= static_cast<std::uint64_t>(out(pool[i % 4])) << (32 * (i % 2));
  }
  return state;
}

}  // namespace

Pcg64::Pcg64(std::uint64_t seed) {
  const std::array<std::uint64_t, 4> words = seed_state(seed);
  const auto wide = [](std::uint64_t high, std::uint64_t low) {
    return static_cast<Wide>(high) << 64 | low;
  };
  increment_ = wide(words[2], words[3]) << 1 | 1;
  advance();
  state_ += wide(words[0], words[1]);
  advance();
}

void Pcg64::advance() {
  constexpr Wide kMultiplier = static_cast<Wide>(0x2360ED051FC65DA4U) << 64 | 0x4385DF649FCCF645U;
  state_ = state_ * kMultiplier + increment_;
}

std::uint64_t Pcg64::next64() {
  advance();
  const auto folded = static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_);
  return std::rotr(folded, static_cast<int>(state_ >> 122));
}

std::uint32_t Pcg64::next32() {
  if (has_upper_half_) {
    has_upper_half_ = false;
    return upper_half_;
  }
  const std::uint64_t both = next64();
  upper_half_ = static_cast<std::uint32_t>(both >> 32);
  has_upper_half_ = true;
  return static_cast<std::uint32_t>(both);
}

std::uint32_t Pcg64::below(std::uint32_t n) {
  if (n == 1) return 0;  // numpy draws nothing for the only choice
  const std::uint32_t uneven = (0U - n) % n;
  for (;;) {
    const std::uint64_t product = static_cast<std::uint64_t>(next32()) * n;
    if (static_cast<std::uint32_t>(product) >= uneven)
      return static_cast<std::uint32_t>(product >> 32);
  }
}

}  // namespace attn
