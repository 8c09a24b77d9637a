// Tests Linformer, Performer, LSH and their gradients against their PyTorch packages
// (tests/golden/make_kind_goldens.py).
#include <doctest/doctest.h>

#include "base/at.h"
#include "base/files/files.h"
#include "base/json.h"
#include "nn/attention/multi_head_attention.h"
#include "nn/attention/patterns/lsh_attention.h"

using namespace attn;

namespace {

constexpr Index kRows = 23;
constexpr Index kColumns = 3;

/// Returns the script's number() of each element.
Matrix kind_input(Index kind, Index rows = kRows, Index columns = kColumns) {
  Matrix x(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index c = 0; c < columns; ++c) {
      x(i, c) = static_cast<float>(
          static_cast<double>((i * 131 + c * 37 + kind * 71) * 17 % 199) / 99.5 - 1);
    }
  }
  return x;
}

Matrix matrix_of(const Json& rows) {
  Matrix x(std::ssize(rows), std::ssize(rows.front()));
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index c = 0; c < x.cols(); ++c) x(i, c) = at(at(rows, i), c).get<float>();
  }
  return x;
}

double distance(const Json& rows, const Matrix& found) {
  const Matrix expected = matrix_of(rows);
  if (found.rows() < expected.rows() || !found.allFinite()) return INFINITY;
  return static_cast<double>((found.topRows(expected.rows()) - expected).cwiseAbs().maxCoeff());
}

Parameter whole(Matrix& m) {
  return row_major(m.data(), m.rows(), m.cols());
}

/// The extra parameters of a pattern, made like the script's.
struct KindExtras {
  Matrix first, second;
  ExtraAttentionParameters extras;

  explicit KindExtras(const Json& golden, const AttentionPattern& pattern) {
    if (pattern.type == PatternType::performer) {
      first = 2 * kind_input(4, pattern.features);
      extras.features = whole(first);
    } else if (pattern.type == PatternType::linformer) {
      const auto places = std::ssize(golden["gradients"][3]);
      first = kind_input(5, places, pattern.rank);
      second = kind_input(6, places, pattern.rank);
      extras.key_projection = whole(first);
      extras.value_projection = whole(second);
    } else {
      first = matrix_of(golden["rotations"]);
      extras.rotations = whole(first);
    }
  }
};

/// Keeps the products of the observed weights and values, and the other data that observers get.
struct KindWatcher : AttentionObserver {
  Matrix made, scores, weights;
  LinformerMatrices mixing;
  LshBuckets hashes;
  bool is_estimate = false;

  void weights_ready(AttentionHead& head) override {
    made = head.weights * head.value;
    scores = head.scores + head.mask;
    weights = head.weights;
    if (head.mixing != nullptr) mixing = *head.mixing;
    if (head.hashes != nullptr) hashes = *head.hashes;
    is_estimate = head.is_estimate;
  }
};

/// Checks that the observed weights give the golden output.
void check_shown(const Json& golden, const AttentionShape& shape, const AttentionInput& input,
                 const KindExtras& own) {
  Matrix output = Matrix::Constant(kRows, kColumns, NAN);
  KindWatcher watcher;
  attend(shape, input, output, &watcher);
  CHECK(distance(golden["output"], output) < 5e-6);
  CHECK(distance(golden["output"], watcher.made) < 1e-5);
  const PatternType type = shape.pattern->type;
  CHECK(watcher.is_estimate == (type == PatternType::performer));
  CHECK(watcher.mixing.keys.size() ==
        (type == PatternType::linformer ? kRows * own.first.cols() : 0));
  if (type == PatternType::linformer) {
    CHECK(watcher.mixing.keys == own.first.topRows(kRows));
    CHECK(watcher.mixing.values == own.second.topRows(kRows));
  }
  if (!golden.contains("buckets")) return;
  if (shape.pattern->block_size >= kRows) {
    CHECK(watcher.hashes.buckets.empty());
    return;
  }
  REQUIRE(watcher.hashes.buckets.size() == golden["buckets"].size());
  for (std::size_t round = 0; round < watcher.hashes.buckets.size(); ++round) {
    for (std::size_t i = 0; i < to_size(kRows); ++i) {
      if (golden["margins"][round][i].get<double>() <= 1e-6) continue;
      CHECK(watcher.hashes.buckets[round][i] == golden["buckets"][round][i].get<int>());
    }
  }
}

void check_kind(const Json& golden) {
  const AttentionPattern pattern = read_pattern(golden["kind"], "golden", "kind");
  KindExtras own(golden, pattern);
  KindExtras gradients(golden, pattern);
  gradients.first.setZero();
  gradients.second.setZero();
  const bool shared = pattern.type == PatternType::lsh;
  const Matrix query = kind_input(0);
  Matrix memory(kRows, 2 * kColumns);
  memory << kind_input(shared ? 0 : 1), kind_input(2);
  const AttentionShape shape{AttentionSite::encoder_self, 0,       1, kColumns,
                             1.0F / std::sqrt(3.0F),      &pattern};
  const std::vector<AttentionGroup> groups{
      {0, 0, kRows, 0, kRows, nullptr, {golden["causal"].get<bool>(), {}}}};
  const AttentionInput input{query, keys_and_values(memory), groups, nullptr, &own.extras};
  Matrix output = Matrix::Constant(kRows, kColumns, NAN);
  Matrix dquery = output, dmemory = Matrix::Constant(kRows, 2 * kColumns, NAN);
  SavedForBackward kept;
  attend_training(shape, input, {}, output, kept);
  AttentionInputGradient gradient = input_gradient(dquery, dmemory);
  gradient.extras = &gradients.extras;
  attend_backward(shape, input, kept, kind_input(3), gradient);
  const Json& expected = golden["gradients"];
  CHECK(distance(golden["output"], output) < 5e-6);
  if (shared) {
    CHECK(distance(expected[0], dquery + dmemory.leftCols(kColumns)) < 2e-5);
    CHECK(distance(expected[1], dmemory.rightCols(kColumns)) < 2e-5);
  } else {
    CHECK(distance(expected[0], dquery) < 2e-5);
    CHECK(distance(expected[1], dmemory.leftCols(kColumns)) < 2e-5);
    CHECK(distance(expected[2], dmemory.rightCols(kColumns)) < 2e-5);
  }
  if (pattern.type == PatternType::linformer) {
    CHECK(distance(expected[3], gradients.first) < 2e-5);
    CHECK(distance(expected[4], gradients.second) < 2e-5);
  }
  output.setConstant(NAN);
  attend(shape, input, output, nullptr);
  CHECK(distance(golden["output"], output) < 5e-6);
  check_shown(golden, shape, input, own);
  if (!golden.contains("buckets")) return;
  const LshOrder order = lsh_order(shape, input, groups.front(), 0);
  for (Index round = 0; round < order.rounds; ++round) {
    for (Index i = 0; i < kRows; ++i) {
      if (at(at(golden["margins"], round), i).get<double>() <= 1e-6) continue;
      CHECK(at(order.buckets, round * kRows + i) == at(at(golden["buckets"], round), i).get<int>());
    }
  }
}

}  // namespace

TEST_CASE("linformer, performer and lsh compute what their packages compute, both ways") {
  const Json cases =
      parse_json(read_file(std::string(ATTN_SOURCE_DIR) + "/tests/golden/kinds.json"), "golden");
  REQUIRE(cases.size() == 11);
  for (const Json& golden : cases) {
    CAPTURE(golden["kind"].dump());
    CAPTURE(golden["causal"].get<bool>());
    check_kind(golden);
  }
}
