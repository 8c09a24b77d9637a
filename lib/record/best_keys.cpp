#include "record/best_keys.h"

#include <algorithm>
#include <numeric>

namespace attn {

int BestKeys::met_count() const {
  return to_int(std::count(met.begin(), met.end(), 1));
}

std::optional<float> BestKeys::share() const {
  if (of == 0) return std::nullopt;
  return static_cast<float>(met_count()) / static_cast<float>(of);
}

BestKeys best_keys(const AttentionMaps& maps, int layer, int head) {
  const HashedHead& hashed = *maps.hashed(layer, head);
  const PatternCells& seen = *maps.seen_by(layer, head);
  BestKeys keys;
  for (int query = 0; query < maps.queries; ++query) {
    const int best = at(hashed.best, query);
    const auto row = seen.row(query);
    const bool met = std::any_of(row.begin(), row.end(), [&](const CellRun& run) {
      return run.first <= best && best < run.end;
    });
    keys.met.push_back(met ? 1 : 0);
    if (best >= 0) ++keys.of;
  }
  const double sum = std::accumulate(hashed.mass.begin(), hashed.mass.end(), 0.0);
  keys.mass = hashed.mass.empty() ? 1 : sum / static_cast<double>(hashed.mass.size());
  return keys;
}

}  // namespace attn
