// Tests attend() against lib/paper's attention in double, one head at a time, and its observer.
#include "nn/attention/multi_head_attention.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

#include "base/at.h"
#include "paper/attention.h"
#include "random_matrix.h"

using namespace attn;
using attn::test::poisoned;
using attn::test::random_matrix;
using attn::test::view;

namespace {

using PaperMatrix = paper::Matrix;

PaperMatrix paper_mask(const AttentionGroup& g) {
  PaperMatrix mask =
      g.mask.causal ? paper::causal_mask(g.queries, g.keys) : paper::no_mask(g.queries, g.keys);
  for (Index key = 0; key < std::ssize(g.mask.key_padding_mask); ++key) {
    if (at(g.mask.key_padding_mask, key) == 0) continue;
    mask.col(key).setConstant(-std::numeric_limits<double>::infinity());
  }
  return mask;
}

struct Watcher : AttentionObserver {
  int weights_seen = 0;
  int outputs_seen = 0;
  bool change = false;
  std::function<void(const AttentionHead&)> look;
  void weights_ready(AttentionHead& head) override {
    ++weights_seen;
    if (look) look(head);
    if (change) {
      head.weights.setZero();
      head.weights.col(0).setOnes();
      head.changed.add_all();
    }
  }
  void output_ready(const AttentionHead& head) override {
    ++outputs_seen;
    CHECK(head.output.allFinite());
  }
};

}  // namespace

TEST_CASE("attention equals the paper's, a head at a time, for every mask, odd and even head_dim") {
  const std::vector<std::uint8_t> key_padding_mask{0, 1, 0, 0, 1, 0, 1};
  for (const Index heads : {1, 2, 3, 5}) {
    for (const Index head_dim : {1, 5, 6, 17, 64}) {
      for (int masks = 0; masks < 4; ++masks) {
        CAPTURE(heads);
        CAPTURE(head_dim);
        CAPTURE(masks);
        const Index d = heads * head_dim;
        const Matrix q = random_matrix(9, d, "q");
        const Matrix kv = random_matrix(9, 2 * d, "kv");
        AttentionMask mask;
        mask.causal = (masks & 1) != 0;
        if ((masks & 2) != 0) mask.key_padding_mask = key_padding_mask;
        // Two sentences, of 2 and 7 rows; the second carries the mask under test.
        const std::vector<AttentionGroup> groups{{0, 0, 2, 0, 2, nullptr, {}},
                                                 {1, 2, 7, 2, 7, nullptr, mask}};
        const AttentionShape shape{AttentionSite::encoder_self, 0, heads, head_dim, 0.37F};
        Matrix out = poisoned(9, d);
        attend(shape, {q, keys_and_values(kv), groups}, out, nullptr);
        for (const AttentionGroup& g : groups) {
          for (Index h = 0; h < heads; ++h) {
            const auto block = [&](const Matrix& m, Index row, Index n, Index column) {
              return PaperMatrix(m.block(row, column + h * head_dim, n, head_dim).cast<double>());
            };
            const PaperMatrix expected =
                paper::attention(block(q, g.first_query, g.queries, 0),
                                 block(kv, g.first_key, g.keys, 0),
                                 block(kv, g.first_key, g.keys, d), double{0.37F}, paper_mask(g))
                    .attn_output;
            const PaperMatrix found = block(out, g.first_query, g.queries, 0);
            CHECK((found - expected).cwiseAbs().maxCoeff() < 1e-5);
          }
        }
      }
    }
  }
}

TEST_CASE("the fused product of query, key and value equals one small matrix a head") {
  const Index d = 12;
  for (const Index heads : {2, 3, 4, 6}) {
    const Index k = d / heads;
    Matrix wq = random_matrix(d, d, "wq");
    Matrix wk = random_matrix(d, d, "wk");
    Matrix wv = random_matrix(d, d, "wv");
    Matrix bq = random_matrix(1, d, "bq");
    Matrix bk = random_matrix(1, d, "bk");
    Matrix bv = random_matrix(1, d, "bv");
    MultiHeadAttention layer;
    layer.query = {view(wq), view(bq)};
    layer.key = {view(wk), view(bk)};
    layer.value = {view(wv), view(bv)};
    layer.output = layer.query;
    layer.prepare_self(Backend::panels);
    const Matrix x = random_matrix(5, d, "x");
    Matrix fused = poisoned(5, 3 * d);
    layer.qkv_projection(x, fused);
    for (Index h = 0; h < heads; ++h) {
      // The head's own [D, K] matrices, as slices of the large ones.
      const Matrix small_q = wq.middleCols(h * k, k);
      const Matrix small_v = wv.middleCols(h * k, k);
      const Matrix q = (x * small_q).rowwise() + bq.row(0).segment(h * k, k);
      const Matrix v = (x * small_v).rowwise() + bv.row(0).segment(h * k, k);
      CHECK((fused.middleCols(h * k, k) - q).cwiseAbs().maxCoeff() < 1e-5F);
      CHECK((fused.middleCols(2 * d + h * k, k) - v).cwiseAbs().maxCoeff() < 1e-5F);
    }
  }
}

TEST_CASE("an observer sees the formula's quantities and changes no bit") {
  const Index heads = 2;
  const Index head_dim = 7;
  const Index d = heads * head_dim;
  const Matrix x = random_matrix(6, 3 * d, "x", 2.0F);
  const std::vector<AttentionGroup> groups{{0, 0, 6, 0, 6, nullptr, {true, {}}}};
  const AttentionShape shape{AttentionSite::decoder_self, 3, heads, head_dim, 0.5F};
  const KeysAndValues memory{x.data() + d, x.data() + 2 * d, 3 * d};
  Matrix without = poisoned(6, d);
  Matrix with = poisoned(6, d);
  attend(shape, {x.leftCols(d), memory, groups}, without, nullptr);
  Watcher watcher;
  watcher.look = [&](const AttentionHead& head) {
    CHECK(head.site == AttentionSite::decoder_self);
    CHECK(head.layer == 3);
    CHECK(head.scale == 0.5F);
    const Matrix scores = head.query * head.key.transpose() * head.scale;
    CHECK((head.scores - scores).cwiseAbs().maxCoeff() < 1e-5F);
    CHECK(head.value == x.middleCols(2 * d + head.head * head_dim, head_dim));
    for (Index i = 0; i < 6; ++i) {
      CHECK(head.weights.row(i).sum() == doctest::Approx(1.0).epsilon(1e-6));
      for (Index j = i + 1; j < 6; ++j) {
        CHECK(head.weights(i, j) == 0.0F);
        CHECK(head.mask(i, j) == -std::numeric_limits<float>::infinity());
      }
      CHECK(head.mask(i, 0) == 0.0F);
    }
  };
  attend(shape, {x.leftCols(d), memory, groups}, with, &watcher);
  CHECK(watcher.weights_seen == 2);
  CHECK(watcher.outputs_seen == 2);
  CHECK(std::memcmp(with.data(), without.data(), to_size(6 * d) * 4) == 0);
}

TEST_CASE("masked keys contribute nothing, infinite values neither, watched or not") {
  const Index d = 19;  // full vectors of a kernel, and a remainder
  const float infinity = std::numeric_limits<float>::infinity();
  const Matrix q = random_matrix(4, d, "q");
  Matrix kv = random_matrix(4, 2 * d, "kv");
  const std::vector<std::uint8_t> key_padding_mask{0, 1, 0, 0};
  kv.row(1).tail(d).setConstant(infinity);       // padding
  kv.row(3).tail(d).setConstant(std::nanf(""));  // in the future for all but the last query
  Matrix finite = kv;
  finite.row(1).tail(d).setZero();
  finite.row(3).tail(d).setZero();
  const std::vector<AttentionGroup> groups{{0, 0, 4, 0, 4, nullptr, {true, key_padding_mask}}};
  const AttentionShape shape{AttentionSite::decoder_self, 0, 1, d, 0.5F};
  const auto attended = [&](const Matrix& memory, AttentionObserver* observer) {
    Matrix out = poisoned(4, d);
    attend(shape, {q, keys_and_values(memory), groups}, out, observer);
    return out;
  };
  struct Silent : AttentionObserver {
    void weights_ready(AttentionHead& head) override {
      head.weights(0, 3) = 0.5F;  // masked
      head.changed.add(0);
    }
  } silent;
  const Matrix expected = attended(finite, nullptr);
  const Matrix without = attended(kv, nullptr);
  const Matrix with = attended(kv, &silent);
  for (Index i = 0; i < 3; ++i) {
    CHECK(without.row(i) == expected.row(i));
    CHECK(with.row(i) == expected.row(i));
  }
  CHECK(with.row(3).array().isNaN().all());
  CHECK(without.row(3).array().isNaN().all());
}

TEST_CASE("a row of scores below every float has no weights, and is no row without keys") {
  const Index d = 5;
  const Matrix q = Matrix::Constant(3, d, 3e38F);
  Matrix kv = random_matrix(3, 2 * d, "kv");
  kv.leftCols(d).setConstant(-1.0F);
  const std::vector<std::uint8_t> key_padding_mask{1, 0, 0};  // the first row of three sees no keys
  const std::vector<AttentionGroup> groups{{0, 0, 3, 0, 3, nullptr, {true, key_padding_mask}}};
  const AttentionShape shape{AttentionSite::decoder_self, 0, 1, d, 0.5F};
  struct Silent : AttentionObserver {
    Matrix weights;
    void weights_ready(AttentionHead& head) override { weights = head.weights; }
  } silent;
  for (AttentionObserver* observer :
       {static_cast<AttentionObserver*>(nullptr), static_cast<AttentionObserver*>(&silent)}) {
    Matrix out = poisoned(3, d);
    attend(shape, {q, keys_and_values(kv), groups}, out, observer);
    CHECK(out.row(0) == RowVector::Zero(d));
    CHECK(out.bottomRows(2).array().isNaN().all());
  }
  CHECK(silent.weights.row(0) == RowVector::Zero(3));
  CHECK(silent.weights.col(0) == Matrix::Zero(3, 1));
  CHECK(std::isnan(silent.weights(1, 1)));
  CHECK(silent.weights(1, 2) == 0.0F);
}

TEST_CASE("weights are shown within 1e-6 of those that the fast code goes on with") {
  double farthest = 0;
  for (const Index n : {1, 7, 300, 700}) {
    for (const bool causal : {false, true}) {
      CAPTURE(n);
      CAPTURE(causal);
      // The values are unit vectors, so the output is the weights.
      Matrix rows = Matrix::Zero(n, 3 * n);
      const Index width = std::min<Index>(n, 64);
      rows.leftCols(width) = random_matrix(n, width, "q", 2.0F);
      rows.middleCols(n, width) = random_matrix(n, width, "k", 2.0F);
      rows.rightCols(n).setIdentity();
      const std::vector<AttentionGroup> groups{{0, 0, n, 0, n, nullptr, {causal, {}}}};
      Matrix out = poisoned(n, n), shown;
      Watcher watcher;
      watcher.look = [&](const AttentionHead& head) { shown = head.weights; };
      attend({AttentionSite::encoder_self, 0, 1, n, 0.3F},
             {rows.leftCols(n), keys_and_values(rows.rightCols(2 * n)), groups}, out, &watcher);
      const double distance = (shown - out).cwiseAbs().maxCoeff();
      CHECK(distance <= 1e-6);
      farthest = std::max(farthest, distance);
    }
  }
  CHECK(farthest > 0);  // they are computed separately
}

TEST_CASE("weights that an observer changes are the ones used") {
  const Matrix q = random_matrix(3, 4, "q");
  const Matrix kv = random_matrix(5, 8, "kv");
  const std::vector<AttentionGroup> groups{{0, 0, 3, 0, 5, nullptr, {}}};
  Watcher watcher;
  watcher.change = true;
  Matrix out = poisoned(3, 4);
  attend({AttentionSite::cross, 0, 1, 4, 0.5F}, {q, keys_and_values(kv), groups}, out, &watcher);
  for (Index i = 0; i < 3; ++i) CHECK(out.row(i) == kv.row(0).tail(4));
}

TEST_CASE("a head that nobody watches is not shown") {
  struct HeadOfGroup : Watcher {
    bool watches(AttentionSite site, Index layer, Index head) const override {
      return site == AttentionSite::cross && layer == 2 && head == 1;
    }
  } watcher;
  watcher.change = true;
  const Matrix q = random_matrix(3, 8, "q");
  const Matrix kv = random_matrix(5, 16, "kv");
  const std::vector<AttentionGroup> groups{{0, 0, 3, 0, 5, nullptr, {}}};
  const AttentionShape shape{AttentionSite::cross, 2, 2, 4, 0.5F};
  Matrix without = poisoned(3, 8), with = poisoned(3, 8);
  attend(shape, {q, keys_and_values(kv), groups}, without, nullptr);
  attend(shape, {q, keys_and_values(kv), groups}, with, &watcher);
  CHECK(watcher.weights_seen == 1);
  CHECK(watcher.outputs_seen == 1);
  CHECK(with.leftCols(4) == without.leftCols(4));
  for (Index i = 0; i < 3; ++i) CHECK(with.row(i).tail(4) == kv.row(0).tail(4));
}

TEST_CASE("keys gathered from a cache equal keys in a row") {
  const Matrix q = random_matrix(1, 6, "q");
  Matrix kv = random_matrix(8, 12, "kv");
  const std::vector<std::int32_t> rows{6, 1, 3};
  Matrix in_order(3, 12);
  for (Index j = 0; j < 3; ++j) in_order.row(j) = kv.row(at(rows, j));
  const AttentionShape shape{AttentionSite::decoder_self, 0, 3, 2, 1.0F};
  Matrix a = poisoned(1, 6);
  Matrix b = poisoned(1, 6);
  const std::vector<AttentionGroup> gathered{{0, 0, 1, 0, 3, rows.data(), {}}};
  const std::vector<AttentionGroup> plain{{0, 0, 1, 0, 3, nullptr, {}}};
  attend(shape, {q, keys_and_values(kv), gathered}, a, nullptr);
  attend(shape, {q, keys_and_values(in_order), plain}, b, nullptr);
  CHECK(std::memcmp(a.data(), b.data(), 24) == 0);
}
