#include "metrics/metric.h"

namespace attn {

std::vector<double> SentenceStatistics::sums() const {
  std::vector<double> total(columns, 0.0);
  for (std::size_t s = 0; s < sentences(); ++s) {
    for (std::size_t c = 0; c < columns; ++c) total[c] += numbers[s * columns + c];
  }
  return total;
}

}  // namespace attn
