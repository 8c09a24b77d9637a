#include "record/attention_maps.h"

#include <algorithm>
#include <numeric>

namespace attn {

std::size_t AttentionMaps::weight_count() const {
  if (!sparse()) return to_size(layers) * to_size(heads) * to_size(queries) * to_size(keys);
  std::size_t count = 0;
  for (const int pattern : seen->of) count += attn::at(seen->patterns, pattern).count();
  return count;
}

std::span<const float> AttentionMaps::cells(int layer, int head) const {
  std::size_t first = 0;
  const int place = layer * heads + head;
  for (int before = 0; before < place; ++before) {
    first += attn::at(seen->patterns, attn::at(seen->of, before)).count();
  }
  return std::span(weights).subspan(first, pattern_cells_of(layer, head)->count());
}

std::span<const float> AttentionMaps::whole(int layer, int head,
                                            std::vector<float>& scratch) const {
  if (!sparse()) return map(layer, head);
  scratch.assign(to_size(queries) * to_size(keys), 0.0F);
  auto next = cells(layer, head).begin();
  for (int query = 0; query < queries; ++query) {
    for (const CellRun& run : pattern_cells_of(layer, head)->row(query)) {
      const auto to = scratch.begin() + to_index(query) * keys + run.first;
      std::copy_n(next, run.end - run.first, to);
      next += run.end - run.first;
    }
  }
  return scratch;
}

std::vector<std::uint8_t> AttentionMaps::uncomputed(std::optional<int> layer,
                                                    std::optional<int> head) const {
  if (!seen) return {};
  std::vector<std::uint8_t> out(to_size(queries) * to_size(keys), 1);
  std::vector<std::uint8_t> done(seen->patterns.size(), 0);
  for (int place = 0; place < layers * heads; ++place) {
    if (layer.value_or(place / heads) != place / heads) continue;
    if (head.value_or(place % heads) != place % heads) continue;
    const int pattern = attn::at(seen->of, place);
    if (attn::at(done, pattern) != 0) continue;
    attn::at(done, pattern) = 1;
    for (int query = 0; query < queries; ++query) {
      for (const CellRun& run : attn::at(seen->patterns, pattern).row(query)) {
        const auto row = out.begin() + to_index(query) * keys;
        std::fill(row + run.first, row + run.end, std::uint8_t{0});
      }
    }
  }
  return out;
}

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
