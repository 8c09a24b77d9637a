#include "analysis/word_links.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/at.h"

namespace attn {

std::vector<AlignmentLink> extract_links(const WeightMatrix& weights,
                                         const std::vector<Word>& source,
                                         const std::vector<Word>& target,
                                         std::optional<float> least) {
  std::vector<AlignmentLink> links;
  for (int t = 0; t < weights.rows; ++t) {
    const std::span<const double> row = weights.row(t);
    if (!std::all_of(row.begin(), row.end(), [](double w) { return std::isfinite(w); })) continue;
    const auto strongest = std::max_element(row.begin(), row.end());  // the first of equals
    if (strongest == row.end() || !(*strongest > 0)) continue;
    for (auto weight = row.begin(); weight != row.end(); ++weight) {
      if (weight != strongest &&
          !(least && *weight > 0 && *weight >= static_cast<double>(*least))) {
        continue;
      }
      const auto s = to_size(weight - row.begin());
      links.push_back(
          {source[s].text_index, at(target, t).text_index, static_cast<float>(*weight)});
    }
  }
  std::sort(links.begin(), links.end(), [](const AlignmentLink& a, const AlignmentLink& b) {
    return std::tie(a.source, a.target) < std::tie(b.source, b.target);
  });
  return links;
}

}  // namespace attn
