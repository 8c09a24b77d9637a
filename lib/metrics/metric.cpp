#include "metrics/metric.h"

namespace attn {

std::vector<double> SentenceStatistics::sums() const {
  std::vector<double> total(columns, 0.0);
  for (std::size_t s = 0; s < sentences(); ++s) {
    for (std::size_t c = 0; c < columns; ++c) total[c] += numbers[s * columns + c];
  }
  return total;
}

std::string signature(const SignatureOptions& facts, std::string_view metric) {
  std::string text = "nrefs:" + std::to_string(facts.references) + "|";
  if (facts.resampling) {
    text += "bs:" + std::to_string(facts.resampling->samples) +
            "|seed:" + std::to_string(facts.resampling->seed) + "|";
  }
  return text.append(metric) + "|version:attn-demo-" ATTN_VERSION;
}

}  // namespace attn
