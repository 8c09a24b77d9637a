#include "analysis/rollout.h"

#include <algorithm>

#include "base/error.h"

namespace attn {
namespace {

/// Returns ½ a x + ½ y, where y has the shape of a x.
WeightMatrix average_with_residual(const WeightMatrix& a, const WeightMatrix& x,
                                   const WeightMatrix& y) {
  WeightMatrix mixed(a.rows, x.columns);
  for (int row = 0; row < a.rows; ++row) {
    for (int column = 0; column < x.columns; ++column) {
      double sum = y.at(row, column);
      for (int i = 0; i < a.columns; ++i) sum += a.at(row, i) * x.at(i, column);
      mixed.at(row, column) = sum / 2;
    }
  }
  return mixed;
}

WeightMatrix identity(int size) {
  WeightMatrix eye(size, size);
  for (int i = 0; i < size; ++i) eye.at(i, i) = 1;
  return eye;
}

}  // namespace

WeightMatrix encoder_rollout(const AttentionMaps& encoder_self) {
  WeightMatrix rollout = identity(encoder_self.queries);
  for (int layer = 0; layer < encoder_self.layers; ++layer) {
    rollout = average_with_residual(mean_of_layer(encoder_self, layer), rollout, rollout);
  }
  return rollout;
}

WeightMatrix cross_rollout(const AttentionRecord& record, const HypothesisRecord& hypothesis) {
  const AttentionMaps& cross = hypothesis.cross;
  if (record.encoder_self.has_projected_keys()) {
    throw InputError(
        "a rollout follows weights from token to token, but a linformer's encoder weighs mixtures "
        "of tokens; use cross-attention alone, such as cross:0:1 or average");
  }
  const WeightMatrix source = encoder_rollout(record.encoder_self);
  WeightMatrix shares(cross.queries, cross.keys);
  double whole = 0;  // the sum of every row of `shares`
  for (int layer = 0; layer < std::min(cross.layers, hypothesis.decoder_self.layers); ++layer) {
    shares = average_with_residual(mean_of_layer(hypothesis.decoder_self, layer), shares, shares);
    shares = average_with_residual(mean_of_layer(cross, layer), source, shares);
    whole = (whole + 1) / 2;
  }
  if (whole > 0) {
    for (double& value : shares.values) value /= whole;
  }
  return shares;
}

}  // namespace attn
