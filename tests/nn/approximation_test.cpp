// Tests properties that Linformer, Performer and LSH share with exact attention, and their
// observers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/random.h"
#include "check_error.h"
#include "compute/threads.h"
#include "nn/attention/multi_head_attention.h"
#include "nn/attention/patterns/lsh_attention.h"
#include "nn/attention/patterns/performer_attention.h"
#include "random_matrix.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr Index kHeadDim = 8;

struct ApproximationRun {
  AttentionPattern pattern;
  ExtraAttentionParameters extras;
  Index heads = 2;
  bool causal = false;

  Matrix operator()(const Matrix& rows, AttentionObserver* observer = nullptr) const {
    const Index n = rows.rows(), width = heads * kHeadDim;
    const AttentionShape shape{AttentionSite::encoder_self,
                               0,
                               heads,
                               kHeadDim,
                               1.0F / std::sqrt(static_cast<float>(kHeadDim)),
                               &pattern};
    const std::vector<AttentionGroup> groups{{0, 0, n, 0, n, nullptr, {causal, {}}}};
    Matrix output = poisoned(n, width);
    attend(shape,
           {rows.leftCols(width), keys_and_values(rows.rightCols(2 * width)), groups, nullptr,
            &extras},
           output, observer);
    return output;
  }
};

/// Returns rows of queries, keys and values.
Matrix rows_of(Index n, Index heads = 2) {
  return random_matrix(n, 3 * heads * kHeadDim, "approximations");
}

double relative_error(const Matrix& found, const Matrix& expected) {
  return static_cast<double>((found - expected).norm() / expected.norm());
}

/// Returns the mean error over several random sets of m features.
double feature_error(const Matrix& rows, const Matrix& exact, Index m, bool orthogonal) {
  double sum = 0;
  constexpr int kDraws = 12;
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    Matrix w(m, kHeadDim);
    if (orthogonal) {
      fill_orthogonal(seed, "w", w.data(), to_size(m), to_size(kHeadDim));
    } else {
      fill_normal(seed, "w", w.data(), to_size(w.size()));
    }
    ApproximationRun run;
    run.pattern.type = PatternType::performer;
    run.extras.features = view(w);
    sum += relative_error(run(rows), exact);
  }
  return sum / kDraws;
}

/// Keeps the sums of rows, and the outputs that the weights give.
struct Watching : AttentionObserver {
  double farthest_sum = 0;
  double farthest_output = 0;
  int heads = 0;
  Index columns = 0;

  void weights_ready(AttentionHead& head) override {
    ++heads;
    columns = head.weights.cols();
    for (Index i = 0; i < head.weights.rows(); ++i) {
      farthest_sum =
          std::max(farthest_sum, std::abs(static_cast<double>(head.weights.row(i).sum()) - 1.0));
    }
  }
  void output_ready(const AttentionHead& head) override {
    const Matrix made = head.weights * head.value;
    farthest_output =
        std::max(farthest_output, static_cast<double>((made - head.output).cwiseAbs().maxCoeff()));
  }
};

}  // namespace

TEST_CASE("linformer with as many rows as tokens and identities is exact attention") {
  const Index n = 61;
  const Matrix rows = rows_of(n);
  Matrix identity = Matrix::Identity(n, n);
  ApproximationRun linformer;
  linformer.pattern.type = PatternType::linformer;
  linformer.pattern.rank = to_int(n);
  linformer.extras.key_projection = linformer.extras.value_projection = view(identity);
  CHECK((linformer(rows) - ApproximationRun{}(rows)).cwiseAbs().maxCoeff() < 1e-6F);
}

TEST_CASE("linformer refuses a sentence beyond its projections") {
  Matrix e = random_matrix(20, 4, "e");
  ApproximationRun run;
  run.pattern.type = PatternType::linformer;
  run.pattern.rank = 4;
  run.extras.key_projection = run.extras.value_projection = view(e);
  CHECK(run(rows_of(20)).allFinite());
  check_error([&] { (void)run(rows_of(21)); }, ExitCode::input,
              "a sentence of 21 tokens is longer than linformer's projections of 20 positions");
}

TEST_CASE("a causal performer's blocks are what each row makes of the keys up to its own") {
  const Index n = 203, width = 2 * kHeadDim, m = 40;
  // The rows are large, so the stabilizers increase during the pass.
  const Matrix rows = random_matrix(n, 3 * width, "blocks", 2.5F);
  const Matrix doutput = random_matrix(n, width, "doutput");
  Matrix w = random_matrix(m, kHeadDim, "features", 2.0F);
  std::vector<std::uint8_t> key_padding_mask(to_size(n), 0);
  for (const Index j : {3, 64, 65, 130, 190}) at(key_padding_mask, j) = 1;
  AttentionPattern pattern;
  pattern.type = PatternType::performer;
  ExtraAttentionParameters extras;
  extras.features = view(w);
  const AttentionShape shape{AttentionSite::decoder_self, 0, 2, kHeadDim, 0.35F, &pattern};
  std::vector<AttentionGroup> whole, single;
  whole.push_back({0, 0, n, 0, n, nullptr, {true, key_padding_mask}});
  for (Index i = 0; i < n; ++i) {
    const std::span<const std::uint8_t> seen(key_padding_mask.data(), to_size(i + 1));
    single.push_back({i, i, 1, 0, i + 1, nullptr, {false, seen}});
  }
  struct Both {
    Matrix output, gradient;
  };
  const auto run = [&](const std::vector<AttentionGroup>& groups) {
    Both both{poisoned(n, width), Matrix::Zero(n, 3 * width)};
    const AttentionInput input{rows.leftCols(width), keys_and_values(rows.rightCols(2 * width)),
                               groups, nullptr, &extras};
    attend(shape, input, both.output, nullptr);
    for (const AttentionGroup& group : groups) {
      Matrix one = Matrix::Zero(n, 3 * width);
      const std::vector<AttentionGroup> alone{group};
      attend_performer_backward(shape, {input.queries, input.memory, alone, nullptr, &extras},
                                both.output, doutput,
                                input_gradient(one.leftCols(width), one.rightCols(2 * width)));
      both.gradient += one;
    }
    return both;
  };
  const Both blocks = run(whole), each = run(single);
  CHECK((blocks.output - each.output).cwiseAbs().maxCoeff() < 1e-5F);
  CHECK(relative_error(blocks.gradient, each.gradient) < 1e-5);
  // A cached step keeps only the sums and gives the same result.
  Matrix state = Matrix::Zero(1, 2 * PerformerState::size(m, kHeadDim));
  for (Index h = 0; h < 2; ++h) {
    PerformerState(state.data() + h * PerformerState::size(m, kHeadDim), m, kHeadDim).begin();
  }
  whole[0].mask.key_padding_mask = {};
  const Both all = run(whole);
  Matrix steps = poisoned(n, width);
  for (Index i = 0; i < n; ++i) {
    const ConstMatrixRef row = rows.middleRows(i, 1);
    performer_step(
        shape,
        {row.leftCols(width), keys_and_values(row.rightCols(2 * width)), {}, nullptr, &extras},
        state, steps.middleRows(i, 1));
  }
  CHECK((steps - all.output).cwiseAbs().maxCoeff() < 1e-5F);
}

TEST_CASE("performer's error falls with the root of its features, orthogonal ones no slower") {
  // With these scores, 16 features already give a useful estimate. With the larger scores of
  // unscaled rows_of(), the error is half of the output at first and decreases more slowly.
  const Matrix rows = 0.5F * rows_of(96);
  const Matrix exact = ApproximationRun{}(rows);
  double x = 0, y = 0, xx = 0, xy = 0;
  int n = 0;
  double orthogonal = 0, independent = 0;
  for (Index m = 16; m <= 1024; m *= 2) {
    const double error = feature_error(rows, exact, m, true);
    orthogonal += std::log(error);
    independent += std::log(feature_error(rows, exact, m, false));
    const double u = std::log(static_cast<double>(m)), v = std::log(error);
    x += u;
    y += v;
    xx += u * u;
    xy += u * v;
    ++n;
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  CHECK_MESSAGE(std::abs(slope + 0.5) <= 0.1, slope);
  CHECK(orthogonal <= independent);
}

TEST_CASE("orthogonal features are orthogonal within blocks, and have the same bits everywhere") {
  Matrix w(2 * kHeadDim, kHeadDim);
  fill_orthogonal(7, "w", w.data(), to_size(w.rows()), to_size(w.cols()));
  for (Index i = 0; i < kHeadDim; ++i) {
    for (Index j = 0; j < i; ++j) {
      CHECK(std::abs(w.row(i).dot(w.row(j))) < 1e-5F * w.row(i).norm() * w.row(j).norm());
    }
  }
  std::vector<float> normal(10'000);
  fill_normal(7, "n", normal.data(), normal.size());
  double sum = 0, squares = 0;
  for (const float v : normal) {
    sum += static_cast<double>(v);
    squares += static_cast<double>(v) * static_cast<double>(v);
  }
  CHECK(std::abs(sum / 10'000) < 0.03);
  CHECK(squares / 10'000 == doctest::Approx(1).epsilon(0.04));
}

TEST_CASE("lsh: buckets are those of doubles, however close two of them are") {
  constexpr Index kRows = 500, kWidth = 64, kRounds = 8, kHalf = 8;
  const Matrix queries = random_matrix(kRows, kWidth, "queries", 4.0F);
  Matrix rotations = random_matrix(kWidth, kRounds * kHalf, "rotations");
  // Neighboring rotations so similar that float dot products cannot tell which one is larger.
  const Matrix little = random_matrix(kWidth, kRounds * kHalf, "little", 3e-7F);
  for (Index c = 1; c < rotations.cols(); c += 2) {
    rotations.col(c) = (c % 4 == 1 ? -1 : 1) * rotations.col(c - 1) + little.col(c);
  }
  AttentionPattern pattern;
  pattern.type = PatternType::lsh;
  pattern.block_size = 16;
  pattern.rounds = kRounds;
  pattern.buckets = 2 * kHalf;
  ExtraAttentionParameters extras;
  extras.rotations = row_major(rotations.data(), kWidth, rotations.cols());
  const AttentionShape shape{AttentionSite::encoder_self, 0, 1, kWidth, 1.0F, &pattern};
  const std::vector<AttentionGroup> groups{{0, 0, kRows, 0, kRows, nullptr, {}}};
  Matrix memory = Matrix::Zero(kRows, 2 * kWidth);
  const LshOrder order = lsh_order(
      shape, {queries, keys_and_values(memory), groups, nullptr, &extras}, groups.front(), 0);
  const Eigen::MatrixXd products = queries.cast<double>() * rotations.cast<double>();
  int close = 0;
  for (Index i = 0; i < kRows; ++i) {
    for (Index round = 0; round < kRounds; ++round) {
      std::vector<double> sizes;
      for (const double sign : {1.0, -1.0}) {
        for (Index c = 0; c < kHalf; ++c) sizes.push_back(sign * products(i, round * kHalf + c));
      }
      const auto best = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
      std::vector<double> sorted = sizes;
      std::sort(sorted.rbegin(), sorted.rend());
      if (sorted[0] - sorted[1] <= 1e-6) continue;
      close += sorted[0] - sorted[1] < 1e-4 ? 1 : 0;
      CHECK(at(order.buckets, round * kRows + i) == best);
    }
  }
  CHECK(close > 1000);
}

TEST_CASE("observers of approximations: rows sum to 1, make the output, and change no bit") {
  const Matrix rows = rows_of(150);
  Matrix shared = rows;
  shared.middleCols(2 * kHeadDim, 2 * kHeadDim) = shared.leftCols(2 * kHeadDim);
  Matrix w = random_matrix(40, kHeadDim, "features", 2.0F);
  Matrix e = random_matrix(150, 20, "e", 0.3F);
  Matrix rotations = random_matrix(2 * kHeadDim, 3 * 4, "rotations");
  for (const int kind : {0, 1, 2, 3}) {
    CAPTURE(kind);
    ApproximationRun run;
    run.pattern.rank = 20;
    run.pattern.block_size = 16;
    run.pattern.rounds = 3;
    run.pattern.buckets = 8;
    run.extras = {view(e), view(e), view(w), view(rotations)};
    run.causal = kind == 1;
    run.pattern.type = kind < 2    ? PatternType::performer
                       : kind == 2 ? PatternType::lsh
                                   : PatternType::linformer;
    const Matrix& read = kind == 2 ? shared : rows;
    const Matrix alone = run(read);
    Watching watching;
    CHECK(run(read, &watching) == alone);
    CHECK(watching.heads == 2);
    CHECK(watching.columns == (kind == 3 ? 20 : 150));
    CHECK(watching.farthest_sum < 1e-5);
    CHECK(watching.farthest_output < 2e-5);
    const int before = threads();
    set_threads(2);
    CHECK(run(read) == alone);
    set_threads(before);
  }
}

TEST_CASE("performer: where no float holds a row's square, watched and unwatched are the same") {
  Matrix w = random_matrix(40, kHeadDim, "features", 2.0F);
  Matrix positive = w.cwiseAbs();  // their dot products with such a row are below every float
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    for (const float large : {1e20F, 1e30F, -3e38F}) {
      CAPTURE(large);
      ApproximationRun run;
      run.pattern.type = PatternType::performer;
      run.extras.features = view(large > 0 ? w : positive);
      run.causal = causal;
      for (const Index row : {0, 70, 149}) {
        CAPTURE(row);
        Matrix rows = rows_of(150);
        auto query_and_key = rows.row(row).leftCols(4 * kHeadDim);
        if (large > 0) query_and_key *= large;
        if (large < 0) query_and_key.setConstant(large);
        const Matrix alone = run(rows);
        CHECK(alone.allFinite());
        Watching watching;
        CHECK((run(rows, &watching) == alone));
        CHECK(watching.farthest_sum < 1e-5);
        CHECK(watching.farthest_output < 2e-5);
      }
      Matrix rows = rows_of(150);
      rows.row(3).leftCols(4 * kHeadDim).setConstant(INFINITY);
      CHECK(run(rows).row(3).array().isNaN().all());
    }
  }
}
