// Attention weights as a matrix of its own: of one head, of an average, of a rollout; by pieces or
// by words.
#pragma once

#include <span>
#include <vector>

#include "base/at.h"
#include "record/attention_record.h"
#include "record/head_report.h"

namespace attn {

/// [rows · columns] numbers, row-major, in double so that sums over pieces stay exact enough to
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

/// One head's map, [queries · keys].
WeightMatrix head_weights(const AttentionMaps& maps, int layer, int head);

/// The mean of a layer's heads, [queries · keys].
WeightMatrix mean_of_layer(const AttentionMaps& maps, int layer);

/// The mean of all heads of all layers, [queries · keys].
WeightMatrix mean_of_heads(const AttentionMaps& maps);

/// A map by words, [query_words · key_words]: the weights of a key word's pieces are summed, since
/// they share what the query gives out, and a query word's rows are averaged, since each gives out
/// 1 anew. With words that cover all pieces, rows sum to 1 again.
WeightMatrix merge_to_words(const WeightMatrix& weights, const std::vector<Word>& query_words,
                            const std::vector<Word>& key_words);

}  // namespace attn
