// Paired bootstrap resampling (Koehn, 2004): is one system's score better than another's by more
// than the choice of the sentences? Figures equal to sacreBLEU's --paired-bs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "metrics/metric.h"
#include "metrics/signature.h"

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

}  // namespace attn
