// Paired bootstrap resampling (Koehn, 2004): is one system better than another by more than the
// choice of sentences explains? The results equal those of sacreBLEU's --paired-bs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/metric.h"

namespace attn {

/// The counts of one metric for two systems over the same sentences.
struct PairedMetric {
  SentenceStatistics baseline, system;
  double baseline_score = 0, system_score = 0;  ///< over all sentences
  SampleScore (*score)(std::span<const double> sums) = nullptr;
};

/// The mean of the samples' scores, and half the width of the interval that holds 95% of them.
struct ConfidenceInterval {
  double mean = 0;
  double half_width = 0;
};

struct PairedResult {
  ConfidenceInterval baseline, system;
  /// (n + 1) / (samples + 1), where n counts the samples whose absolute score difference, less the
  /// mean of these differences, exceeds the difference over all sentences.
  double p_value = 1;
};

/// Returns a result for each metric; all metrics use the same samples. Throws std::invalid_argument
/// unless all counts have the same number of sentences, from 1 to 2³² − 1.
std::vector<PairedResult> paired_bootstrap(std::span<const PairedMetric> metrics,
                                           const Resampling& resampling = {});

// numpy's default random numbers, so that the samples equal sacreBLEU's for the same seed.

/// PCG64 (O'Neill 2014: a 128-bit congruential generator with XSL-RR output), seeded by numpy's
/// SeedSequence: the generator of np.random.default_rng(seed).
class Pcg64 {
 public:
  explicit Pcg64(std::uint64_t seed);

  std::uint64_t next64();
  std::uint32_t next32();  ///< halves of 64 bits, the lower one first

  /// Returns a uniform number in [0, n), 0 < n < 2³² (Lemire 2019), like Generator.choice(n).
  std::uint32_t below(std::uint32_t n);

 private:
  __extension__ using Wide = unsigned __int128;
  void advance();

  Wide state_ = 0, increment_ = 0;
  std::uint32_t upper_half_ = 0;
  bool has_upper_half_ = false;
};

}  // namespace attn
