// Attention weights as a matrix: of one head, an average or a rollout, by tokens or by words.
#pragma once

#include <span>
#include <vector>

#include "base/at.h"
#include "record/attention_record.h"
#include "record/head_report.h"

namespace attn {

/// A row-major matrix [rows, columns] in double, so that sums over tokens stay exact enough to
/// compare.
struct WeightMatrix {
  int rows = 0;
  int columns = 0;
  std::vector<double> values;

  WeightMatrix() = default;
  WeightMatrix(int row_count, int column_count)
      : rows(row_count),
        columns(column_count),
        values(to_size(row_count) * to_size(column_count)) {}

  double& at(int row, int column) { return values[index(row, column)]; }
  double at(int row, int column) const { return values[index(row, column)]; }
  std::span<const double> row(int row) const {
    return std::span(values).subspan(index(row, 0), to_size(columns));
  }

 private:
  std::size_t index(int row, int column) const {
    return to_size(row) * to_size(columns) + to_size(column);
  }
};

/// Returns one head's map, [queries, keys].
WeightMatrix head_weights(const AttentionMaps& maps, int layer, int head);

/// Returns the mean of a layer's heads, [queries, keys].
WeightMatrix mean_of_layer(const AttentionMaps& maps, int layer);

/// Returns the mean of all heads of all layers, [queries, keys].
WeightMatrix mean_of_heads(const AttentionMaps& maps);

/// Merges a map to words, [query_words, key_words]. The weights of a key word's tokens are summed,
/// because they share one query's weight; the rows of a query word are averaged, because each of
/// them sums to 1. If the words cover all tokens, rows sum to 1 again.
WeightMatrix merge_to_words(const WeightMatrix& weights, const std::vector<Word>& query_words,
                            const std::vector<Word>& key_words);

}  // namespace attn
