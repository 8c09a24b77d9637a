#include "record/best_keys.h"

#include <algorithm>
#include <numeric>

namespace attn {

int LshRecall::found_count() const {
  return to_int(std::count(found.begin(), found.end(), 1));
}

std::optional<float> LshRecall::share() const {
  if (of == 0) return std::nullopt;
  return static_cast<float>(found_count()) / static_cast<float>(of);
}

LshRecall lsh_recall(const AttentionMaps& maps, int layer, int head) {
  const RecordedLshHead& hashed = *maps.hashed(layer, head);
  const PatternCells& seen = *maps.pattern_cells_of(layer, head);
  LshRecall keys;
  for (int query = 0; query < maps.queries; ++query) {
    const int best = at(hashed.best, query);
    const auto row = seen.row(query);
    const bool found = std::any_of(row.begin(), row.end(), [&](const CellRun& run) {
      return run.first <= best && best < run.end;
    });
    keys.found.push_back(found ? 1 : 0);
    if (best >= 0) ++keys.of;
  }
  const double sum = std::accumulate(hashed.mass.begin(), hashed.mass.end(), 0.0);
  keys.mass = hashed.mass.empty() ? 1 : sum / static_cast<double>(hashed.mass.size());
  return keys;
}

}  // namespace attn
