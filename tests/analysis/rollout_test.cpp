#include "analysis/rollout.h"

#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "analysis/small_record.h"
#include "base/at.h"

namespace attn {
namespace {

using Grid = std::vector<std::vector<double>>;

void check(const WeightMatrix& found, const Grid& expected) {
  REQUIRE(found.rows == to_int(expected.size()));
  for (int row = 0; row < found.rows; ++row) {
    REQUIRE(found.columns == to_int(at(expected, row).size()));
    for (int column = 0; column < found.columns; ++column) {
      CAPTURE(row);
      CAPTURE(column);
      CHECK(found.at(row, column) == doctest::Approx(at(at(expected, row), column)).epsilon(1e-9));
    }
  }
}

AttentionMaps layers_of(const std::vector<std::vector<float>>& layers) {
  AttentionMaps maps = test::maps_of(2, 2, layers);
  maps.layers = maps.heads;
  maps.heads = 1;
  return maps;
}

TEST_CASE("encoder rollout, by hand") {
  check(encoder_rollout(layers_of({{0, 1, 1, 0}})), {{0.5, 0.5}, {0.5, 0.5}});
  // ½(A₂ + I) ½(A₁ + I) with A₁ = [[1,0],[1,0]], A₂ = [[0,1],[0,1]]: the order matters.
  check(encoder_rollout(layers_of({{1, 0, 1, 0}, {0, 1, 0, 1}})), {{0.75, 0.25}, {0.5, 0.5}});
  // Heads are averaged first.
  check(encoder_rollout(test::maps_of(2, 2, {{0, 1, 0, 1}, {1, 0, 0, 1}})), {{0.75, 0.25}, {0, 1}});
}

TEST_CASE("cross rollout, by hand") {
  AttentionRecord record = test::small_record({"▁a", "</s>"}, {"▁x", "</s>"});
  record.encoder_self = layers_of({{1, 0, 0, 1}});
  HypothesisRecord& hypothesis = record.hypotheses[0];
  hypothesis.decoder_self = layers_of({{1, 0, 0, 1}, {1, 0, 1, 0}});
  hypothesis.cross = layers_of({{1, 0, 0, 1}, {0, 1, 0, 1}});
  // C₁ = ½ I. After self-attention: [[½,0],[¼,¼]]. C₂ = [[¼,½],[⅛,⅝]], with a sum of ¾.
  check(cross_rollout(record, hypothesis), {{1.0 / 3, 2.0 / 3}, {1.0 / 6, 5.0 / 6}});
  record.encoder_self = layers_of({{0, 1, 1, 0}});  // every state is half of each token
  check(cross_rollout(record, hypothesis), {{0.5, 0.5}, {0.5, 0.5}});
}

Grid product(const Grid& a, const Grid& b) {
  Grid c(a.size(), std::vector<double>(b[0].size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b[0].size(); ++j) {
      for (std::size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
    }
  }
  return c;
}

Grid eye(std::size_t size) {
  Grid grid(size, std::vector<double>(size));
  for (std::size_t i = 0; i < size; ++i) grid[i][i] = 1;
  return grid;
}

/// Returns one attention step over all S + L states. Rows from `first_row` on become half of their
/// old value, plus half of what the mean of a layer's heads reads from columns from `first_column`
/// on.
Grid step(std::size_t size, const AttentionMaps& maps, int layer, int first_row, int first_column) {
  Grid grid = eye(size);
  for (int q = 0; q < maps.queries; ++q) {
    auto& row = at(grid, first_row + q);
    at(row, first_row + q) = 0.5;
    for (int k = 0; k < maps.keys; ++k) {
      for (int head = 0; head < maps.heads; ++head) {
        at(row, first_column + k) +=
            0.5 * static_cast<double>(maps.at(layer, head, q, k)) / maps.heads;
      }
    }
  }
  return grid;
}

TEST_CASE("rollout equals the product of whole-network matrices, on random maps") {
  const std::vector<std::array<int, 4>> shapes = {
      {1, 1, 1, 1}, {2, 3, 5, 4}, {3, 1, 4, 7}, {6, 6, 9, 11}};
  for (const std::array<int, 4>& shape : shapes) {
    const int encoder_layers = shape[0], decoder_layers = shape[1], s = shape[2], l = shape[3];
    CAPTURE(s);
    const std::vector<std::string> source(to_size(s), "▁a");
    const std::vector<std::string> target(to_size(l), "▁x");
    AttentionRecord record = test::small_record(source, target);
    HypothesisRecord& hypothesis = record.hypotheses[0];
    record.encoder_self = test::random_maps(encoder_layers, 3, s, s, 1);
    hypothesis.decoder_self = test::random_maps(decoder_layers, 2, l, l, 2, true);
    hypothesis.cross = test::random_maps(decoder_layers, 4, l, s, 3);
    // The states are S of the encoder, then L of the decoder. The encoder runs first.
    const std::size_t size = to_size(s + l);
    Grid flow = eye(size);
    for (int layer = 0; layer < encoder_layers; ++layer) {
      flow = product(step(size, record.encoder_self, layer, 0, 0), flow);
    }
    for (int layer = 0; layer < decoder_layers; ++layer) {
      flow = product(step(size, hypothesis.decoder_self, layer, s, s), flow);
      flow = product(step(size, hypothesis.cross, layer, s, 0), flow);
    }
    const WeightMatrix found = cross_rollout(record, hypothesis);
    REQUIRE(found.rows == l);
    REQUIRE(found.columns == s);
    for (int t = 0; t < l; ++t) {
      const std::vector<double>& row = at(flow, s + t);
      double from_source = 0;
      double sum = 0;
      for (int j = 0; j < s; ++j) from_source += at(row, j);
      for (int j = 0; j < s; ++j) {
        CHECK(found.at(t, j) == doctest::Approx(at(row, j) / from_source).epsilon(1e-6));
        sum += found.at(t, j);
      }
      CHECK(sum == doctest::Approx(1).epsilon(1e-6));
    }
  }
}

}  // namespace
}  // namespace attn
