// Paired bootstrap resampling (Koehn, 2004): is one system's score better than another's by more
// than the choice of the sentences? Figures equal to sacreBLEU's --paired-bs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/metric.h"

namespace attn {

/// A metric of two systems over the same sentences.
struct PairedMetric {
  SentenceStatistics baseline, system;
  double baseline_score = 0, system_score = 0;  ///< of all sentences
  SampleScore (*score)(std::span<const double> sums) = nullptr;
};

/// Mean of the samples' scores, and half the width of what 95% of them lie in.
struct ConfidenceInterval {
  double mean = 0;
  double half_width = 0;
};

struct PairedResult {
  ConfidenceInterval baseline, system;
  /// How often, of all samples and one more, the scores lie farther apart than those of all
  /// sentences do, the samples' mean distance subtracted.
  double p_value = 1;
};

/// A result for each metric; all of them see the same samples. std::invalid_argument unless every
/// count has as many sentences, one or more, and below 2³².
std::vector<PairedResult> paired_bootstrap(std::span<const PairedMetric> metrics,
                                           const Resampling& resampling = {});

// numpy's default random numbers, so that samples are those that sacreBLEU draws from the same
// seed.

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
