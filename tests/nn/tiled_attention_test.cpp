// Tests attention in tiles, forward and backward, against the formula in double with the mask that
// the pattern's ranges give (key_ranges_test.cpp compares those with their definitions).
#include "nn/attention/tiled_attention.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "base/at.h"
#include "compute/threads.h"
#include "nn/attention/attention_mask.h"
#include "nn/attention/multi_head_attention.h"
#include "random_matrix.h"

using namespace attn;
using attn::test::random_matrix;

namespace {

using Doubles = Eigen::MatrixXd;

/// Heads, columns and a pattern. The matrices hold all heads side by side.
struct TiledCase {
  AttentionPattern pattern = {};
  bool causal = false;
  std::vector<Index> globals = {};
  Index origin = 0;
  Index heads = 2;
  Index head_dim = 20;
  Index layer = 1;

  AttentionShape shape() const {
    return {AttentionSite::encoder_self, layer, heads, head_dim, 0.3F, &pattern};
  }
  AttentionGroup group(Index first, Index n,
                       std::span<const std::uint8_t> key_padding_mask = {}) const {
    return {0, first, n, first, n, nullptr, {causal, key_padding_mask}, globals, origin};
  }
  Index width() const { return heads * head_dim; }
};

AttentionPattern pattern_of(PatternType type, int size) {
  AttentionPattern p;
  p.type = type;
  p.windows = {size};
  p.block_size = p.stride = size;
  p.random_blocks = 2;
  p.summary = std::min(size, 2);
  p.shift = true;
  return p;
}

/// Returns a case for every type, with sizes that are not multiples of any tile size.
std::vector<TiledCase> tiled_cases() {
  using enum PatternType;
  std::vector<TiledCase> all;
  for (const bool causal : {false, true}) {
    all.push_back({{}, causal});
    all.push_back({pattern_of(window, 34), causal});
    all.push_back({pattern_of(window, 330), causal});
    all.push_back({pattern_of(sparse_strided, 13), causal});
    all.push_back({pattern_of(sparse_fixed, 37), causal});
  }
  all.push_back({pattern_of(longformer, 60), false, {0, 7, 8, 150}});
  all.push_back({pattern_of(bigbird, 18)});
  all.push_back({pattern_of(bigbird, 18)});
  all.back().pattern.random_is_seeded = false;
  all.push_back({pattern_of(chunks, 50), false, {0, 33}});
  all.push_back({pattern_of(chunks, 50), false, {0, 1, 2}, 3});
  return all;
}

/// One head in double: its weights and, with dropout's factors, its output and gradients.
struct HeadInDouble {
  Doubles output, dquery, dkey, dvalue;

  HeadInDouble(const std::array<Doubles, 3>& qkv, const Doubles& dout, double scale,
               const Doubles& mask, const Doubles& factors) {
    Doubles p = qkv[0] * qkv[1].transpose() * scale + mask;
    for (Index i = 0; i < p.rows(); ++i) {
      const double top = p.row(i).maxCoeff();
      for (Index j = 0; j < p.cols(); ++j) {
        p(i, j) = std::isinf(mask(i, j)) ? 0.0 : std::exp(p(i, j) - top);
      }
      if (p.row(i).sum() > 0) p.row(i) /= p.row(i).sum();
    }
    const Doubles dropped = p.cwiseProduct(factors);
    output = dropped * qkv[2];
    dvalue = dropped.transpose() * dout;
    const Doubles dp = (dout * qkv[2].transpose()).cwiseProduct(factors);
    Doubles ds = dp;
    for (Index i = 0; i < p.rows(); ++i) {
      const double mean = p.row(i).dot(dp.row(i));
      ds.row(i) = p.row(i).cwiseProduct((dp.row(i).array() - mean).matrix()) * scale;
    }
    dquery = ds * qkv[1];
    dkey = ds.transpose() * qkv[0];
  }
};

double error_of(const Matrix& found, const Doubles& expected) {
  const double error = (found.cast<double>() - expected).cwiseAbs().maxCoeff();
  return found.allFinite() ? error : HUGE_VAL;
}

/// Returns the input rows of a sentence: [n, 3D] queries, keys, values.
Matrix rows_for(const TiledCase& c, Index n) {
  return random_matrix(n, 3 * c.width(), "tiled rows", 1.5F);
}

Matrix attended(const TiledCase& c, const Matrix& rows, std::span<const AttentionGroup> groups,
                AttentionObserver* observer = nullptr) {
  Matrix out = Matrix::Constant(rows.rows(), c.width(), NAN);
  attend(c.shape(),
         {rows.leftCols(c.width()), keys_and_values(rows.rightCols(2 * c.width())), groups}, out,
         observer);
  return out;
}

/// Returns the factors by which dropout multiplies each weight, measured with values that are the
/// unit vectors.
Doubles factors_of(const TiledCase& c, Index n, Index head, const Dropout& dropout) {
  TiledCase wide = c;
  wide.head_dim = n;
  const Matrix zeros = Matrix::Zero(n, 3 * wide.width());
  Matrix rows = zeros;
  for (Index h = 0; h < c.heads; ++h) {
    rows.block(0, 2 * wide.width() + h * n, n, n) = Matrix::Identity(n, n);
  }
  const std::vector<AttentionGroup> groups{wide.group(0, n)};
  const AttentionInput input{rows.leftCols(wide.width()),
                             keys_and_values(rows.rightCols(2 * wide.width())), groups};
  Matrix with(n, wide.width()), without(n, wide.width());
  SavedForBackward kept;
  attend_training(wide.shape(), input, dropout, with, kept);
  attend_training(wide.shape(), input, {}, without, kept);
  Doubles factors = Doubles::Zero(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const double weight = without(i, head * n + j);
      if (weight > 0) factors(i, j) = with(i, head * n + j) / weight;
    }
  }
  return factors;
}

void check_gradients(const TiledCase& c, Index n, const Dropout& dropout) {
  const Index d = c.width();
  const Matrix rows = rows_for(c, n);
  const Matrix dout = random_matrix(n, d, "tiled dout");
  const std::vector<AttentionGroup> groups{c.group(0, n)};
  const AttentionInput input{rows.leftCols(d), keys_and_values(rows.rightCols(2 * d)), groups};
  Matrix out = Matrix::Constant(n, d, NAN), drows = Matrix::Constant(n, 3 * d, NAN);
  SavedForBackward kept;
  attend_training(c.shape(), input, dropout, out, kept);
  attend_backward(c.shape(), input, kept, dout,
                  input_gradient(drows.leftCols(d), drows.rightCols(2 * d)));
  for (Index h = 0; h < c.heads; ++h) {
    const auto part = [&](const Matrix& x, Index column) {
      return x.middleCols(column + h * c.head_dim, c.head_dim);
    };
    const std::array<Doubles, 3> qkv{part(rows, 0).cast<double>(), part(rows, d).cast<double>(),
                                     part(rows, 2 * d).cast<double>()};
    const Doubles factors =
        dropout.active() ? factors_of(c, n, h, dropout) : Doubles(Doubles::Ones(n, n));
    const HeadInDouble expected(qkv, part(dout, 0).cast<double>(), 0.3F,
                                mask_matrix(c.shape(), groups[0], h).cast<double>(), factors);
    CHECK(error_of(part(out, 0), expected.output) < 1e-5);
    CHECK(error_of(part(drows, 0), expected.dquery) < 2e-5);
    CHECK(error_of(part(drows, d), expected.dkey) < 2e-5);
    CHECK(error_of(part(drows, 2 * d), expected.dvalue) < 2e-5);
  }
}

struct Quiet : AttentionObserver {
  void weights_ready(AttentionHead& head) override { largest = std::max(largest, rows_off(head)); }
  static float rows_off(const AttentionHead& head) {
    return (head.weights.rowwise().sum().array() - 1.0F).abs().maxCoeff();
  }
  float largest = 0.0F;
};

}  // namespace

TEST_CASE("tiles: output and gradients of every pattern are the formula's") {
  int number = 0;
  for (const TiledCase& c : tiled_cases()) {
    for (const Index n : {1, 40, 300}) {
      CAPTURE(pattern_name(c.pattern.type));
      CAPTURE(c.causal);
      CAPTURE(n);
      CAPTURE(number++);
      check_gradients(c, n, {});
      if (n == 40) check_gradients(c, n, {0.3F, 77});
    }
  }
}

TEST_CASE("tiles: full attention of long sentences, forward and back") {
  for (const bool causal : {false, true}) {
    const TiledCase c{{}, causal};
    for (const Index n : {513, 700}) {
      CAPTURE(causal);
      CAPTURE(n);
      check_gradients(c, n, {});
      check_gradients(c, n, {0.1F, 78});
    }
  }
}

TEST_CASE("attention: gradients of many queries that look at few keys") {
  const TiledCase c{};
  const Index keys = 30, d = c.width();
  for (const Index n : {0, 1, 512, 513, 1100}) {
    CAPTURE(n);
    const Index rows = std::max<Index>(n, 1);  // there may be rows, but none of this group
    const Matrix queries = random_matrix(rows, d, "many queries", 1.5F);
    const Matrix memory = random_matrix(keys, 2 * d, "few keys", 1.5F);
    const Matrix dout = random_matrix(rows, d, "tiled dout");
    const std::vector<AttentionGroup> groups{{0, 0, n, 0, keys, nullptr, {}}};
    const AttentionInput input{queries, keys_and_values(memory), groups};
    Matrix out(rows, d), dqueries = Matrix::Constant(rows, d, NAN);
    Matrix dmemory = Matrix::Constant(keys, 2 * d, NAN);
    SavedForBackward kept;
    attend_training(c.shape(), input, {}, out, kept);
    attend_backward(c.shape(), input, kept, dout, input_gradient(dqueries, dmemory));
    for (Index h = 0; h < c.heads; ++h) {
      const auto part = [&](const Matrix& x, Index column) {
        return x.middleCols(column + h * c.head_dim, c.head_dim);
      };
      const std::array<Doubles, 3> qkv{part(queries, 0).topRows(n).cast<double>(),
                                       part(memory, 0).cast<double>(),
                                       part(memory, d).cast<double>()};
      const HeadInDouble expected(qkv, part(dout, 0).topRows(n).cast<double>(), 0.3F,
                                  Doubles::Zero(n, keys), Doubles::Ones(n, keys));
      if (n > 0) CHECK(error_of(part(dqueries, 0), expected.dquery) < 2e-5);
      CHECK(error_of(part(dmemory, 0), expected.dkey) < 2e-5);
      CHECK(error_of(part(dmemory, d), expected.dvalue) < 2e-5);
    }
  }
}

TEST_CASE("tiles: hidden keys count for nothing, whatever they hold") {
  for (const TiledCase& c : tiled_cases()) {
    CAPTURE(pattern_name(c.pattern.type));
    const Index n = c.pattern.full() ? 700 : 300;
    Matrix rows = rows_for(c, n);
    std::vector<std::uint8_t> key_padding_mask(to_size(n));
    for (Index j = 0; j < n; ++j) at(key_padding_mask, j) = j % 5 == 3 || j == n - 1 ? 1 : 0;
    const std::vector<AttentionGroup> groups{c.group(0, n, key_padding_mask)};
    const Matrix expected = attended(c, rows, groups);
    CHECK(expected.allFinite());
    for (Index j = 0; j < n; ++j) {
      if (at(key_padding_mask, j) != 0)
        rows.row(j).rightCols(2 * c.width()).setConstant(j % 2 ? NAN : INFINITY);
    }
    CHECK(attended(c, rows, groups) == expected);
  }
}

TEST_CASE("tiles: a row of scores below every float has no weights, and is no row without keys") {
  struct Watch : AttentionObserver {
    std::vector<Matrix> weights;
    void weights_ready(AttentionHead& head) override { weights.push_back(head.weights); }
  };
  for (const TiledCase& c : tiled_cases()) {
    CAPTURE(pattern_name(c.pattern.type));
    CAPTURE(c.causal);
    const Index n = c.pattern.full() ? 700 : 300;
    Matrix rows = rows_for(c, n);
    rows.leftCols(c.width()).setConstant(3e38F);
    rows.middleCols(c.width(), c.width()).setConstant(-1.0F);
    const std::vector<AttentionGroup> groups{c.group(0, n)};
    Watch watch;
    CHECK(attended(c, rows, groups).array().isNaN().all());
    CHECK(attended(c, rows, groups, &watch).array().isNaN().all());
    for (const Matrix& weights : watch.weights) {
      CHECK(weights.rowwise().sum().array().isNaN().all());
    }
    const std::vector<std::uint8_t> key_padding_mask(to_size(n), 1);
    const std::vector<AttentionGroup> padding{c.group(0, n, key_padding_mask)};
    CHECK(attended(c, rows, padding) == Matrix::Zero(n, c.width()));
  }
}

TEST_CASE("tiles: who reads no scores sees the same weights, and what it changes counts as much") {
  struct Watch : AttentionObserver {
    explicit Watch(bool with_scores) : reads(with_scores) {}
    bool reads_scores() const override { return reads; }
    void weights_ready(AttentionHead& head) override {
      CHECK((head.scores.size() > 0) == reads);
      CHECK((head.mask.size() > 0) == reads);
      weights.push_back(head.weights);
      if (head.head != 1) return;
      head.weights.row(3).setZero();
      head.changed.add(3);
    }
    bool reads;
    std::vector<Matrix> weights;
  };
  for (const TiledCase& c : tiled_cases()) {
    CAPTURE(pattern_name(c.pattern.type));
    const Index n = 600;
    const Matrix rows = rows_for(c, n);
    std::vector<std::uint8_t> key_padding_mask(to_size(n));
    at(key_padding_mask, 7) = 1;
    const std::vector<AttentionGroup> groups{c.group(0, n, key_padding_mask)};
    Watch all(true), few(false);
    const Matrix expected = attended(c, rows, groups, &all);
    CHECK(attended(c, rows, groups, &few) == expected);
    CHECK(few.weights == all.weights);
    CHECK(expected != attended(c, rows, groups));
  }
}

TEST_CASE("tiles: an infinite value behind a causal row does not reach it") {
  const TiledCase c{{}, true};
  Matrix rows = rows_for(c, 700);
  const std::vector<AttentionGroup> groups{c.group(0, 700)};
  const Matrix expected = attended(c, rows, groups);
  rows.row(600).rightCols(2 * c.width()).setConstant(INFINITY);
  const Matrix found = attended(c, rows, groups);
  CHECK(found.topRows(600) == expected.topRows(600));
  CHECK(found.bottomRows(100).array().isNaN().all());
}

TEST_CASE("tiles: a row's bits do not depend on threads, batch or observers") {
  for (const TiledCase& c : tiled_cases()) {
    CAPTURE(pattern_name(c.pattern.type));
    CAPTURE(c.causal);
    const Index n = 800;
    const Matrix alone = rows_for(c, n);
    const std::vector<AttentionGroup> one{c.group(0, n)};
    const Matrix expected = attended(c, alone, one);
    set_threads(3);
    CHECK(attended(c, alone, one) == expected);
    set_threads(1);
    Quiet watcher;
    CHECK(attended(c, alone, one, &watcher) == expected);
    CHECK(watcher.largest < 2e-6F);
    Matrix batch(n + 60, 3 * c.width());
    batch << random_matrix(50, 3 * c.width(), "others"), alone,
        random_matrix(10, 3 * c.width(), "more");
    const std::vector<AttentionGroup> three{c.group(0, 50), c.group(50, n), c.group(50 + n, 10)};
    CHECK(attended(c, batch, three).middleRows(50, n) == expected);
  }
}

TEST_CASE("tiles: gradients have the same bits on any threads") {
  for (const TiledCase& c : tiled_cases()) {
    const Index n = 600, d = c.width();
    const Matrix rows = rows_for(c, n), dout = random_matrix(n, d, "dout");
    const std::vector<AttentionGroup> groups{c.group(0, n)};
    const AttentionInput input{rows.leftCols(d), keys_and_values(rows.rightCols(2 * d)), groups};
    Matrix gradients[2];
    for (const int threads : {1, 3}) {
      set_threads(threads);
      Matrix out(n, d), drows(n, 3 * d);
      SavedForBackward kept;
      attend_training(c.shape(), input, {0.2F, 5}, out, kept);
      attend_backward(c.shape(), input, kept, dout,
                      input_gradient(drows.leftCols(d), drows.rightCols(2 * d)));
      gradients[threads / 2] = drows;
    }
    set_threads(1);
    CHECK(gradients[0] == gradients[1]);
  }
}

TEST_CASE("tiles: a cached step has the bits of its row in the whole sentence") {
  for (const TiledCase& c : tiled_cases()) {
    if (!c.causal) continue;
    CAPTURE(pattern_name(c.pattern.type));
    const Index n = 700, d = c.width();
    const Matrix rows = rows_for(c, n);
    const std::vector<AttentionGroup> whole{c.group(0, n)};
    const Matrix expected = attended(c, rows, whole);
    // The cache stores the rows in another order.
    std::vector<std::int32_t> order(to_size(n));
    Matrix cache(n, 3 * d);
    for (Index j = 0; j < n; ++j) {
      at(order, j) = narrow_cast<std::int32_t>((j * 37) % n);
      cache.row(at(order, j)) = rows.row(j);
    }
    for (const Index i : {0, 5, 100, 127, 128, 511, 512, 513, 640, 699}) {
      CAPTURE(i);
      const Matrix query = rows.row(i).leftCols(d);
      Matrix out = Matrix::Constant(1, d, NAN);
      const std::vector<AttentionGroup> step{{0, 0, 1, 0, i + 1, order.data(), {true, {}}}};
      attend(c.shape(), {query, keys_and_values(cache.rightCols(2 * d)), step}, out, nullptr);
      CHECK(out.row(0) == expected.row(i));
    }
  }
}

TEST_CASE("rows of full attention that see at most 512 keys are computed as ever") {
  const TiledCase c{{}, true};
  const Index n = 600, d = c.width(), k = c.head_dim;
  const Matrix rows = rows_for(c, n);
  const std::vector<AttentionGroup> groups{c.group(0, n)};
  const Matrix found = attended(c, rows, groups);
  for (const Index i : {0, 300, 511}) {
    std::vector<float> scores(to_size(i + 1));
    Matrix out(1, k);
    const Matrix keys = rows.middleCols(d, k), values = rows.middleCols(2 * d, k);
    kernels().dot_products(rows.row(i).data(), {keys.data(), k, nullptr}, i + 1, k,
                           {scores.data()});
    for (float& score : scores) score *= 0.3F;
    kernels().softmax(scores.data(), i + 1);
    kernels().weighted_sums(scores.data(), {values.data(), k, nullptr}, i + 1, k, {out.data()});
    CHECK(out.row(0) == found.row(i).head(k));
  }
}

TEST_CASE("patterns that leave nothing out are exact attention") {
  const Index n = 300;
  const TiledCase exact;
  const Matrix rows = rows_for(exact, n);
  const std::vector<AttentionGroup> all{exact.group(0, n)};
  const Matrix expected = attended(exact, rows, all);
  using enum PatternType;
  for (const PatternType type :
       {window, longformer, sparse_strided, sparse_fixed, chunks, bigbird}) {
    CAPTURE(pattern_name(type));
    TiledCase c{pattern_of(type, 600)};
    c.pattern.shift = false;
    const std::vector<AttentionGroup> groups{c.group(0, n)};
    CHECK((attended(c, rows, groups) - expected).cwiseAbs().maxCoeff() < 1e-6F);
  }
  const TiledCase causal{{}, true};
  const std::vector<AttentionGroup> earlier{causal.group(0, n)};
  const Matrix expected_earlier = attended(causal, rows, earlier);
  for (const PatternType type : {window, sparse_strided, sparse_fixed}) {
    CAPTURE(pattern_name(type));
    const TiledCase c{pattern_of(type, 600), true};
    const std::vector<AttentionGroup> groups{c.group(0, n)};
    CHECK((attended(c, rows, groups) - expected_earlier).cwiseAbs().maxCoeff() < 1e-6F);
  }
}

TEST_CASE("tiles: weights that an observer changes are used, in the rows where it changed them") {
  struct Second : AttentionObserver {
    void weights_ready(AttentionHead& head) override {
      head.weights.row(1).setZero();
      head.weights(1, 2) = 1.0F;
      head.changed.add(1);
    }
  } second;
  const TiledCase c{pattern_of(PatternType::window, 10)};
  const Matrix rows = rows_for(c, 50);
  const std::vector<AttentionGroup> groups{c.group(0, 50)};
  const Matrix plain = attended(c, rows, groups), changed = attended(c, rows, groups, &second);
  CHECK(changed.row(0) == plain.row(0));
  CHECK(changed.bottomRows(48) == plain.bottomRows(48));
  CHECK(changed.row(1) == rows.row(2).rightCols(c.width()));
}

TEST_CASE("tiles: global tokens with projections of their own") {
  TiledCase c{pattern_of(PatternType::longformer, 20), false, {0, 30}};
  const Index n = 70, d = c.width();
  const Matrix rows = rows_for(c, n), others = random_matrix(n, 3 * d, "global rows", 1.5F);
  const Matrix dout = random_matrix(n, d, "dout");
  const std::vector<AttentionGroup> groups{c.group(0, n)};
  const GlobalProjections global{others.leftCols(d), keys_and_values(others.rightCols(2 * d))};
  const AttentionInput input{rows.leftCols(d), keys_and_values(rows.rightCols(2 * d)), groups,
                             &global};
  Matrix out(n, d), again(n, d), drows(n, 3 * d), dothers(n, 3 * d);
  SavedForBackward kept;
  attend_training(c.shape(), input, {}, out, kept);
  attend(c.shape(), input, again, nullptr);
  CHECK(out == again);
  Quiet watcher;
  attend(c.shape(), input, again, &watcher);
  CHECK(out == again);
  const GlobalGradient dglobal{dothers.leftCols(d), dothers.data() + d, dothers.data() + 2 * d,
                               3 * d};
  AttentionInputGradient gradient = input_gradient(drows.leftCols(d), drows.rightCols(2 * d));
  gradient.global = &dglobal;
  attend_backward(c.shape(), input, kept, dout, gradient);
  // Local rows read `rows`, global rows read `others`: two separate attentions.
  for (Index h = 0; h < c.heads; ++h) {
    const auto part = [&](const Matrix& x, Index column) {
      return x.middleCols(column + h * c.head_dim, c.head_dim);
    };
    Doubles mask = mask_matrix(c.shape(), groups[0], h).cast<double>();
    for (const bool of_globals : {false, true}) {
      const Matrix& from = of_globals ? others : rows;
      const Matrix& to = of_globals ? dothers : drows;
      Doubles own = mask, own_dout = part(dout, 0).cast<double>();
      for (Index i = 0; i < n; ++i) {
        if ((i == 0 || i == 30) != of_globals) own_dout.row(i).setZero();
      }
      const HeadInDouble expected({part(from, 0).cast<double>(), part(from, d).cast<double>(),
                                   part(from, 2 * d).cast<double>()},
                                  own_dout, 0.3F, own, Doubles::Ones(n, n));
      for (Index i = 0; i < n; ++i) {
        if ((i == 0 || i == 30) != of_globals) continue;
        CHECK(error_of(part(out, 0).row(i), expected.output.row(i)) < 1e-5);
      }
      CHECK(error_of(part(to, 0), expected.dquery) < 2e-5);
      CHECK(error_of(part(to, d), expected.dkey) < 2e-5);
      CHECK(error_of(part(to, 2 * d), expected.dvalue) < 2e-5);
    }
  }
}
