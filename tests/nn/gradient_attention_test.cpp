// Tests attention's backward pass against numeric gradients of the formula in double.
#include <doctest/doctest.h>

#include <array>
#include <optional>

#include "base/at.h"
#include "base/relative_position_buckets.h"
#include "nn/attention/multi_head_attention.h"
#include "nn/attention/relative_position_bias.h"
#include "numeric_gradient.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Sentences, heads, masks and dropout of a test. The rows between sentences must be neither read
/// nor written.
struct Setting {
  std::vector<std::pair<Index, Index>> lengths;  ///< queries and keys of each sentence
  Index heads = 3;
  Index head_dim = 5;
  float scale = 0.4F;
  bool causal = false;
  bool hide = false;
  Dropout dropout = {};
  Index queries_per_kv_head = 1;          ///< query heads that share one head's keys and values
  RelativePositionBiasConfig relative{};  ///< none, or a relative position bias on the scores
};

/// The groups of a setting, with one unused row before each sentence on both sides.
struct Rows {
  std::vector<AttentionGroup> groups;
  std::vector<std::vector<std::uint8_t>> key_padding_mask;
  Index queries = 0;
  Index keys = 0;

  explicit Rows(const Setting& s) : key_padding_mask(s.lengths.size()) {
    for (std::size_t b = 0; b < s.lengths.size(); ++b) {
      const auto [n, m] = s.lengths[b];
      AttentionGroup g{to_index(b), queries + 1, n, keys + 1, m, nullptr, {}};
      if (s.hide) {
        for (Index j = 0; j < m; ++j) key_padding_mask[b].push_back(j % 3 == 1 ? 1 : 0);
        if (b == 1)
          key_padding_mask[b].assign(key_padding_mask[b].size(),
                                     1);  // a sentence that is only padding
      }
      g.mask = {s.causal, key_padding_mask[b]};
      groups.push_back(g);
      queries += n + 1;
      keys += m + 1;
    }
  }
};

bool is_hidden(const AttentionGroup& g, Index i, Index j) {
  const bool future = g.mask.causal && j > g.keys - g.queries + i;
  return future || (!g.mask.key_padding_mask.empty() && at(g.mask.key_padding_mask, j) != 0);
}

/// Returns the softmax of each row over the keys that its query may see; zeros if there are none.
DoubleMatrix weights_of(const AttentionGroup& g, const DoubleMatrix& scores) {
  DoubleMatrix w = DoubleMatrix::Zero(g.queries, g.keys);
  for (Index i = 0; i < g.queries; ++i) {
    double sum = 0;
    for (Index j = 0; j < g.keys; ++j) {
      if (!is_hidden(g, i, j)) sum += w(i, j) = std::exp(scores(i, j));
    }
    if (sum > 0) w.row(i) /= sum;
  }
  return w;
}

/// Computes attention of all groups and heads in double. Rows between sentences stay 0.
DoubleMatrix attention(const Setting& s, const Rows& rows, const std::vector<DoubleMatrix>& masks,
                       const std::array<DoubleMatrix, 3>& qkv, const DoubleMatrix& table) {
  const RelativePositionBuckets buckets{s.relative.buckets, s.relative.max_distance, s.causal};
  DoubleMatrix out = DoubleMatrix::Zero(rows.queries, qkv[0].cols());
  std::size_t mask = 0;
  for (const AttentionGroup& g : rows.groups) {
    for (Index h = 0; h < s.heads; ++h) {
      const auto part = [&](const DoubleMatrix& x, Index first, Index n,
                            Index queries_per_kv_head = 1) {
        return x.block(first, h / queries_per_kv_head * s.head_dim, n, s.head_dim);
      };
      DoubleMatrix scores = part(qkv[0], g.first_query, g.queries) *
                            part(qkv[1], g.first_key, g.keys, s.queries_per_kv_head).transpose() *
                            static_cast<double>(s.scale);
      for (Index i = 0; i < scores.rows() && s.relative.enabled(); ++i) {
        for (Index j = 0; j < scores.cols(); ++j) {
          scores(i, j) += table(buckets.of(j - (g.keys - g.queries + i)), h);
        }
      }
      out.block(g.first_query, h * s.head_dim, g.queries, s.head_dim) =
          weights_of(g, scores).cwiseProduct(masks[mask++]) *
          part(qkv[2], g.first_key, g.keys, s.queries_per_kv_head);
    }
  }
  return out;
}

/// Returns the dropout masks in the order in which attend_training() numbers the weights: groups,
/// heads, queries, keys.
std::vector<DoubleMatrix> masks_of(const Setting& s, const Rows& rows) {
  std::vector<DoubleMatrix> masks;
  Index first = 0;
  for (const AttentionGroup& g : rows.groups) {
    for (Index h = 0; h < s.heads; ++h) {
      Matrix ones = Matrix::Ones(g.queries, g.keys);
      s.dropout.apply(ones.data(), ones.size(), first);
      masks.push_back(ones.cast<double>());
      first += ones.size();
    }
  }
  return masks;
}

/// Fills the rows between sentences with NaN.
void poison_gaps(MatrixRef x, const Rows& rows, bool queries) {
  for (const AttentionGroup& g : rows.groups) {
    x.row((queries ? g.first_query : g.first_key) - 1).setConstant(NAN);
  }
}

/// True if the rows between sentences are still NaN. Sets them to 0 for a comparison.
bool clear_gaps(MatrixRef x, const Rows& rows, bool queries) {
  bool still = true;
  for (const AttentionGroup& g : rows.groups) {
    auto row = x.row((queries ? g.first_query : g.first_key) - 1);
    still = still && row.array().isNaN().all();
    row.setZero();
  }
  return still;
}

/// Converts gradients of every head's own rows [S, I] to those of the rows that heads share.
Matrix added_up(const Setting& s, const ConstMatrixRef& all) {
  Matrix sums = Matrix::Zero(all.rows(), all.cols() / s.queries_per_kv_head);
  for (Index h = 0; h < s.heads; ++h) {
    sums.middleCols(h / s.queries_per_kv_head * s.head_dim, s.head_dim) +=
        all.middleCols(h * s.head_dim, s.head_dim);
  }
  return sums;
}

void check_attention(const Setting& s) {
  const Rows rows(s);
  const Index d = s.heads * s.head_dim, shared = d / s.queries_per_kv_head;
  Matrix queries = random_matrix(rows.queries, d, "queries", 2.0F);
  Matrix memory = random_matrix(rows.keys, 2 * shared, "memory", 2.0F);  // keys, followed by values
  Matrix table = random_matrix(std::max(s.relative.buckets, 1), s.heads, "table");
  DoubleMatrix biases = table.cast<double>();
  Matrix dout = random_matrix(rows.queries, d, "dout");
  std::array<DoubleMatrix, 3> qkv{queries.cast<double>(), memory.leftCols(shared).cast<double>(),
                                  memory.rightCols(shared).cast<double>()};
  const std::vector<DoubleMatrix> masks = masks_of(s, rows);
  const auto loss = [&] { return weighted(dout, attention(s, rows, masks, qkv, biases)); };
  const DoubleMatrix expected = attention(s, rows, masks, qkv, biases);
  std::array<DoubleMatrix, 3> gradient;
  for (std::size_t i = 0; i < 3; ++i) gradient[i] = numeric_gradient(qkv[i], loss);
  const DoubleMatrix dbiases = numeric_gradient(biases, loss);

  poison_gaps(queries, rows, true);
  poison_gaps(dout, rows, true);
  poison_gaps(memory, rows, false);
  AttentionShape shape{AttentionSite::encoder_self, 0, s.heads, s.head_dim, s.scale};
  shape.queries_per_kv_head = s.queries_per_kv_head;
  std::optional<RelativePositionBias> relative_bias;
  if (s.relative.enabled()) {
    shape.relative_bias = &relative_bias.emplace(view(table), s.relative, s.causal, 24);
  }
  AddedTo dtable(table.rows(), s.heads, "dtable");
  ExtraAttentionParameters extras;
  extras.relative_bias = view(dtable.now);
  const KeysAndValues from = keys_and_values(memory);
  Embedded in(queries);
  Embedded out(poisoned(rows.queries, d));
  SavedForBackward kept;
  attend_training(shape, {in.view(), from, rows.groups}, s.dropout, out.view(), kept);
  CHECK(out.untouched_outside());
  CHECK(clear_gaps(out.view(), rows, true));
  CHECK(largest_error(out.view(), expected) < 2e-6);

  Embedded dqueries(poisoned(rows.queries, d));
  Embedded dmemory(poisoned(rows.keys, 2 * d));
  Embedded doutput(dout);
  AttentionInputGradient to = input_gradient(dqueries.view(), dmemory.view());
  to.extras = &extras;
  attend_backward(shape, {in.view(), from, rows.groups}, kept, doutput.view(), to);
  CHECK(dqueries.untouched_outside());
  CHECK(dmemory.untouched_outside());
  CHECK(clear_gaps(dqueries.view(), rows, true));
  CHECK(clear_gaps(dmemory.view(), rows, false));
  CHECK(largest_error(dqueries.view(), gradient[0]) < 3e-6);
  CHECK(largest_error(added_up(s, dmemory.view().leftCols(d)), gradient[1]) < 3e-6);
  CHECK(largest_error(added_up(s, dmemory.view().rightCols(d)), gradient[2]) < 3e-6);
  if (!s.relative.enabled()) return;
  CHECK(largest_error(dtable.added(), dbiases) < 3e-6);
}

const std::vector<std::pair<Index, Index>> kSelf{{7, 7}, {1, 1}, {19, 19}, {4, 4}};
const std::vector<std::pair<Index, Index>> kCross{{7, 11}, {3, 1}, {1, 6}, {18, 5}};

}  // namespace

TEST_CASE("attention: gradients of encoder, causal and cross attention") {
  check_attention({.lengths = kSelf});
  check_attention({.lengths = kSelf, .causal = true});
  check_attention({.lengths = kCross});
}

TEST_CASE("attention: gradients with other heads, one head, and unscaled scores") {
  check_attention({.lengths = kSelf, .heads = 1, .head_dim = 17});
  check_attention({.lengths = kCross, .heads = 5, .head_dim = 1});
  check_attention({.lengths = kCross, .heads = 2, .head_dim = 3, .scale = 1.0F});
}

TEST_CASE("attention: gradients with hidden keys, and a sentence whose keys are all hidden") {
  check_attention({.lengths = kSelf, .hide = true});
  check_attention({.lengths = kSelf, .causal = true, .hide = true});
  check_attention({.lengths = kCross, .hide = true});
}

TEST_CASE("attention: causal with more or fewer keys than queries") {
  check_attention({.lengths = {{3, 8}, {6, 2}, {5, 5}}, .causal = true});
}

TEST_CASE("attention: gradients where heads share keys and values") {
  for (const Index queries_per_kv_head : {2, 3, 6}) {
    check_attention(
        {.lengths = kSelf, .heads = 6, .head_dim = 3, .queries_per_kv_head = queries_per_kv_head});
    check_attention(
        {.lengths = kSelf, .heads = 6, .causal = true, .queries_per_kv_head = queries_per_kv_head});
    check_attention({.lengths = kCross,
                     .heads = 6,
                     .hide = true,
                     .dropout = {0.2F, 3},
                     .queries_per_kv_head = queries_per_kv_head});
  }
}

TEST_CASE("attention: gradients with biases of distances, and at their table") {
  for (const RelativePositionBiasConfig& relative :
       {RelativePositionBiasConfig{8, 6, false}, {4, 20, false}}) {
    check_attention({.lengths = kSelf, .relative = relative});
    check_attention({.lengths = kSelf, .causal = true, .relative = relative});
    check_attention({.lengths = {{3, 8}, {5, 5}},
                     .scale = 1.0F,
                     .causal = true,
                     .dropout = {0.3F, 9},
                     .relative = relative});
    check_attention({.lengths = kSelf,
                     .heads = 4,
                     .hide = true,
                     .queries_per_kv_head = 2,
                     .relative = relative});
  }
}

TEST_CASE("attention: gradients through dropout of the weights") {
  for (const float probability : {0.1F, 0.6F}) {
    check_attention({.lengths = kSelf, .dropout = {probability, 41}});
    check_attention({.lengths = kSelf, .causal = true, .hide = true, .dropout = {probability, 42}});
    check_attention({.lengths = kCross, .dropout = {probability, 43}});
  }
}

TEST_CASE("attention in training is attend() where dropout is off, to the bit") {
  const Setting s{.lengths = kSelf, .causal = true};
  const Rows rows(s);
  const Matrix qkv = random_matrix(rows.queries, 45, "qkv");
  const AttentionShape shape{AttentionSite::decoder_self, 0, 3, 5, 0.4F};
  const KeysAndValues from{qkv.data() + 15, qkv.data() + 30, 45};
  Matrix a = Matrix::Zero(rows.queries, 15);
  Matrix b = a;
  SavedForBackward kept;
  attend(shape, {qkv.leftCols(15), from, rows.groups}, a, nullptr);
  attend_training(shape, {qkv.leftCols(15), from, rows.groups}, {}, b, kept);
  CHECK(a == b);
  CHECK(!a.isZero(0));
}

TEST_CASE("attention in training refuses keys that lie in a cache") {
  const Setting s{.lengths = {{2, 2}}};
  Rows rows(s);
  const std::int32_t order[] = {1, 0};
  rows.groups[0].key_rows = order;
  Matrix x = random_matrix(3, 15, "x");
  SavedForBackward kept;
  CHECK_THROWS_AS(attend_training({AttentionSite::cross, 0, 3, 5, 1.0F},
                                  {x, {x.data(), x.data(), 15}, rows.groups}, {}, x, kept),
                  std::logic_error);
}
