// numpy's default random numbers, so that samples are those that sacreBLEU draws from the same
// seed.
#pragma once

#include <cstdint>

namespace attn {

/// PCG64 (O'Neill 2014: a 128-bit congruential generator, XSL-RR output), seeded by numpy's
/// SeedSequence: what np.random.default_rng(seed) gives.
class Pcg64 {
 public:
  explicit Pcg64(std::uint64_t seed);

  std::uint64_t next64();
  std::uint32_t next32();  ///< halves of 64 bits, the lower first

  /// Even in [0, n), 0 < n < 2³² (Lemire 2019); what Generator.choice(n) draws.
  std::uint32_t below(std::uint32_t n);

 private:
  __extension__ using Wide = unsigned __int128;
  void advance();

  Wide state_ = 0, increment_ = 0;
  std::uint32_t upper_half_ = 0;
  bool has_upper_half_ = false;
};

}  // namespace attn
