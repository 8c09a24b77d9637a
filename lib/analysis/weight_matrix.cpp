#include "analysis/weight_matrix.h"

#include "base/at.h"

namespace attn {
namespace {

/// Adds a head's map times `factor`.
void add_head(WeightMatrix& sum, const AttentionMaps& maps, HeadIndex place, double factor) {
  std::vector<float> scratch;
  const std::span<const float> map = maps.whole(place.layer, place.head, scratch);
  for (std::size_t i = 0; i < map.size(); ++i) {
    sum.values[i] += factor * static_cast<double>(map[i]);
  }
}

}  // namespace

WeightMatrix head_weights(const AttentionMaps& maps, int layer, int head) {
  WeightMatrix weights(maps.queries, maps.keys);
  add_head(weights, maps, {layer, head}, 1);
  return weights;
}

WeightMatrix mean_of_layer(const AttentionMaps& maps, int layer) {
  WeightMatrix mean(maps.queries, maps.keys);
  for (int head = 0; head < maps.heads; ++head)
    add_head(mean, maps, {layer, head}, 1.0 / maps.heads);
  return mean;
}

WeightMatrix mean_of_heads(const AttentionMaps& maps) {
  WeightMatrix mean(maps.queries, maps.keys);
  for (int layer = 0; layer < maps.layers; ++layer) {
    for (int head = 0; head < maps.heads; ++head) {
      add_head(mean, maps, {layer, head}, 1.0 / (maps.layers * maps.heads));
    }
  }
  return mean;
}

WeightMatrix merge_to_words(const WeightMatrix& weights, const std::vector<Word>& query_words,
                            const std::vector<Word>& key_words) {
  WeightMatrix merged(to_int(query_words.size()), to_int(key_words.size()));
  for (int q = 0; q < merged.rows; ++q) {
    const Word& query = at(query_words, q);
    for (int k = 0; k < merged.columns; ++k) {
      const Word& key = at(key_words, k);
      double sum = 0;
      for (int row = query.first; row < query.first + query.count; ++row) {
        for (int column = key.first; column < key.first + key.count; ++column) {
          sum += weights.at(row, column);
        }
      }
      merged.at(q, k) = sum / query.count;
    }
  }
  return merged;
}

}  // namespace attn
