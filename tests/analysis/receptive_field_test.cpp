// Tests how far tokens see, against paths that are followed one by one.
#include "record/receptive_field.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "base/at.h"

namespace attn {
namespace {

/// Returns the cells with |i − j| ≤ reach.
PatternCells window(int tokens, int reach) {
  PatternCells seen;
  for (int row = 0; row < tokens; ++row) {
    seen.runs.push_back(
        {std::max(0, row - reach), std::min(tokens, row + reach + 1), PatternReason::window});
    seen.end_row();
  }
  return seen;
}

TEST_CASE("receptive field: windows add up layer by layer") {
  constexpr int tokens = 150;
  const PatternCells narrow = window(tokens, 1), wide = window(tokens, 3);
  const std::vector<LayerCells> layers = {{{&narrow}}, {{&wide, &narrow}}, {{&narrow}}};
  const ReceptiveField field = receptive_field(layers, tokens, 1000, false);
  REQUIRE(field.side == tokens);
  for (int i = 0; i < tokens; ++i) {
    for (int j = 0; j < tokens; ++j) {
      const int away = std::abs(i - j);
      const int expected = away <= 1 ? 1 : away <= 4 ? 2 : away <= 5 ? 3 : 0;
      REQUIRE(at(field.first, i * tokens + j) == expected);
    }
  }
  REQUIRE(field.after.size() == 3);
  CHECK(field.after[1].least == 5);
  CHECK(field.after[1].most == 9);
  CHECK(field.after[1].max_distance == 4);
  CHECK(field.after[2].mean == doctest::Approx((150.0 * 11 - 30) / 150));
}

TEST_CASE("receptive field: blocks have the first layer of any of their tokens") {
  constexpr int tokens = 10;
  const PatternCells near = window(tokens, 1);
  const std::vector<LayerCells> layers(2, LayerCells{{&near}});
  const ReceptiveField field = receptive_field(layers, tokens, 5, false);
  REQUIRE(field.side == 5);
  const std::vector<int> row(field.first.begin() + 10, field.first.begin() + 15);
  CHECK(row == std::vector<int>{0, 1, 1, 1, 0});
}

TEST_CASE("receptive field: full layers, and tokens of the model's own, show everything") {
  constexpr int tokens = 70;
  const PatternCells near = window(tokens, 1);
  const std::vector<LayerCells> full = {{{&near}}, {}};
  CHECK(receptive_field(full, tokens, 70, false).after[1].least == tokens);
  const std::vector<LayerCells> windows(2, LayerCells{{&near}});
  CHECK(receptive_field(windows, tokens, 70, false).after[1].most == 5);
  const ReceptiveField relayed = receptive_field(windows, tokens, 70, true);
  CHECK(relayed.after[0].most == 3);
  CHECK(relayed.after[1].least == tokens);
  CHECK(relayed.after[1].max_distance == tokens - 1);
}

}  // namespace
}  // namespace attn
