// Tests attention with sparse patterns and its gradients against PyTorch's
// (tests/golden/make_pattern_goldens.py).
#include <doctest/doctest.h>

#include "base/at.h"
#include "base/files/files.h"
#include "base/json.h"
#include "nn/attention/multi_head_attention.h"

using namespace attn;

namespace {

constexpr Index kGoldenRows = 23;
constexpr Index kGoldenColumns = 3;

/// Returns the script's number() of each element.
Matrix golden_input(Index kind) {
  Matrix x(kGoldenRows, kGoldenColumns);
  for (Index i = 0; i < kGoldenRows; ++i) {
    for (Index c = 0; c < kGoldenColumns; ++c) {
      x(i, c) = static_cast<float>(
          static_cast<double>((i * 131 + c * 37 + kind * 71) * 17 % 199) / 99.5 - 1);
    }
  }
  return x;
}

double distance_to(const Json& rows, const Matrix& found) {
  double largest = found.allFinite() ? 0 : 1;
  for (Index i = 0; i < kGoldenRows; ++i) {
    for (Index c = 0; c < kGoldenColumns; ++c) {
      const double expected = at(at(rows, i), c).get<double>();
      largest = std::max(largest, std::abs(expected - static_cast<double>(found(i, c))));
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("patterns compute what PyTorch computes under their masks, both ways") {
  const Json cases =
      parse_json(read_file(std::string(ATTN_SOURCE_DIR) + "/tests/golden/patterns.json"), "golden");
  REQUIRE(cases.size() == 10);
  for (const Json& golden : cases) {
    CAPTURE(golden["pattern"].dump());
    const AttentionPattern pattern = read_pattern(golden["pattern"], "golden", "pattern");
    const Matrix query = golden_input(0);
    Matrix memory(kGoldenRows, 2 * kGoldenColumns);
    memory << golden_input(1), golden_input(2);
    const AttentionShape shape{AttentionSite::encoder_self,
                               golden["layer"].get<Index>(),
                               1,
                               kGoldenColumns,
                               2.0F,
                               &pattern};
    const std::vector<AttentionGroup> groups{{0,
                                              0,
                                              kGoldenRows,
                                              0,
                                              kGoldenRows,
                                              nullptr,
                                              {golden["causal"].get<bool>(), {}},
                                              pattern.globals}};
    const AttentionInput input{query, keys_and_values(memory), groups};
    Matrix output = Matrix::Constant(kGoldenRows, kGoldenColumns, NAN);
    Matrix dquery = output, dmemory = Matrix::Constant(kGoldenRows, 2 * kGoldenColumns, NAN);
    SavedForBackward kept;
    attend_training(shape, input, {}, output, kept);
    attend_backward(shape, input, kept, golden_input(3), input_gradient(dquery, dmemory));
    CHECK(distance_to(golden["output"], output) < 2e-6);
    CHECK(distance_to(golden["gradients"][0], dquery) < 5e-6);
    CHECK(distance_to(golden["gradients"][1], dmemory.leftCols(kGoldenColumns)) < 5e-6);
    CHECK(distance_to(golden["gradients"][2], dmemory.rightCols(kGoldenColumns)) < 5e-6);
    attend(shape, input, output, nullptr);
    CHECK(distance_to(golden["output"], output) < 2e-6);
  }
}
