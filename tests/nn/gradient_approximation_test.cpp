// Tests the backward passes of linformer, performer and lsh against numeric gradients of their
// formulas in double: sentences of one token, of whole chunks and of one token more, padding,
// dropout, several heads.
#include <doctest/doctest.h>

#include <cmath>

#include "base/at.h"
#include "nn/attention/multi_head_attention.h"
#include "nn/attention/patterns/lsh_attention.h"
#include "numeric_gradient.h"

using namespace attn;
using namespace attn::test;

namespace {

struct ApproximationSetting {
  PatternType type;
  std::vector<Index> lengths;
  Index heads = 3;
  Index head_dim = 5;
  bool causal = false;
  bool hide = false;
  Dropout dropout = {};
  float scale = 0.4F;

  Index width() const { return heads * head_dim; }
};

constexpr Index kRank = 3, kFeatures = 7, kPlaces = 20;

AttentionPattern pattern_of(const ApproximationSetting& s) {
  AttentionPattern pattern;
  pattern.type = s.type;
  pattern.rank = to_int(kRank);
  pattern.features = to_int(kFeatures);
  pattern.block_size = 4;
  pattern.rounds = 3;
  pattern.buckets = 6;
  return pattern;
}

struct ApproximationGroups {
  std::vector<std::vector<std::uint8_t>> key_padding_mask;
  std::vector<AttentionGroup> groups;
  Index rows = 0;

  explicit ApproximationGroups(const ApproximationSetting& s) : key_padding_mask(s.lengths.size()) {
    for (std::size_t b = 0; b < s.lengths.size(); ++b) {
      const Index n = s.lengths[b];
      for (Index j = 0; s.hide && j < n; ++j) {
        // The second sentence is only padding.
        key_padding_mask[b].push_back(j % 3 == 1 || b == 1 ? 1 : 0);
      }
      groups.push_back({to_index(b), rows, n, rows, n, nullptr, {s.causal, key_padding_mask[b]}});
      rows += n;
    }
  }
};

bool sees(const AttentionGroup& g, Index i, Index j) {
  return (!g.mask.causal || j <= i) &&
         (g.mask.key_padding_mask.empty() || at(g.mask.key_padding_mask, j) == 0);
}

/// One head of a sentence in double.
struct DoubleHead {
  const ApproximationSetting& s;
  const AttentionGroup& g;
  Index head;

  auto part(const DoubleMatrix& x) const {
    return x.block(g.first_query, head * s.head_dim, g.keys, s.head_dim);
  }
};

/// Returns softmax(Q (Eᵀ K)ᵀ · scale) Fᵀ V, with padding left out of both sums.
DoubleMatrix linformer_of(const DoubleHead& h, const std::vector<DoubleMatrix>& in,
                          const DoubleMatrix& mask) {
  DoubleMatrix keys = DoubleMatrix::Zero(kRank, h.s.head_dim), values = keys;
  for (Index j = 0; j < h.g.keys; ++j) {
    if (!sees(h.g, j, j)) continue;
    keys += in[3].row(j).transpose() * h.part(in[1]).row(j);
    values += in[4].row(j).transpose() * h.part(in[2]).row(j);
  }
  DoubleMatrix weights = (h.part(in[0]) * keys.transpose() * static_cast<double>(h.s.scale));
  weights = weights.array().exp();
  for (Index i = 0; i < weights.rows(); ++i) weights.row(i) /= weights.row(i).sum();
  return weights.cwiseProduct(mask) * values;
}

/// Returns w_f · s x for every row [n, m].
DoubleMatrix projected(const DoubleHead& h, const DoubleMatrix& x, const Matrix& features) {
  return h.part(x) * features.cast<double>().transpose() *
         std::sqrt(static_cast<double>(h.s.scale));
}

/// The stabilizers of the features, which are constants: one per query and, for each query, those
/// of the keys.
struct Stabilisers {
  Eigen::VectorXd query, key;

  Stabilisers(const DoubleHead& h, const std::vector<DoubleMatrix>& in, const Matrix& features)
      : query(projected(h, in[0], features).rowwise().maxCoeff()), key(h.g.keys) {
    const Eigen::VectorXd largest = projected(h, in[1], features).rowwise().maxCoeff();
    for (Index i = 0; i < h.g.keys; ++i) {
      key(i) = -INFINITY;
      for (Index j = 0; j < h.g.keys; ++j) {
        if (sees(h.g, i, j)) key(i) = std::max(key(i), largest(j));
      }
    }
  }
};

DoubleMatrix performer_of(const DoubleHead& h, const std::vector<DoubleMatrix>& in,
                          const Matrix& features, const Stabilisers& constants) {
  constexpr double kEpsilon = 1e-4;
  const double scale = static_cast<double>(h.s.scale);
  DoubleMatrix query = projected(h, in[0], features), key = projected(h, in[1], features);
  for (Index i = 0; i < h.g.keys; ++i) {
    query.row(i).array() -= h.part(in[0]).row(i).squaredNorm() * scale / 2 + constants.query(i);
    key.row(i).array() -= h.part(in[1]).row(i).squaredNorm() * scale / 2;
  }
  query = query.array().exp() + kEpsilon;
  DoubleMatrix out = DoubleMatrix::Zero(h.g.keys, h.s.head_dim);
  for (Index i = 0; i < h.g.keys; ++i) {
    double sum = 0;
    for (Index j = 0; j < h.g.keys; ++j) {
      if (!sees(h.g, i, j)) continue;
      const Eigen::RowVectorXd of_key = (key.row(j).array() - constants.key(i)).exp() + kEpsilon;
      const double weight = query.row(i).dot(of_key);
      sum += weight;
      out.row(i) += weight * h.part(in[2]).row(j);
    }
    if (sum > 0) out.row(i) /= sum;
  }
  return out;
}

/// Returns one softmax over all tokens that a token meets in all rounds, in a fixed order. A token
/// that meets only itself attends to itself.
DoubleMatrix lsh_of(const DoubleHead& h, const std::vector<DoubleMatrix>& in, const LshOrder& order,
                    const Dropout& dropout) {
  DoubleMatrix keys = h.part(in[1]);
  for (Index j = 0; j < keys.rows(); ++j) {
    const double mean = keys.row(j).squaredNorm() / static_cast<double>(h.s.head_dim);
    keys.row(j) *= static_cast<double>(h.s.scale) / std::sqrt(mean + 1e-6);
  }
  const DoubleMatrix scores = h.part(in[0]) * keys.transpose();
  DoubleMatrix out = DoubleMatrix::Zero(h.g.keys, h.s.head_dim);
  std::vector<double> sums(to_size(h.g.keys), 0.0);
  const auto place = [&](Index n) { return Index{at(order.places, n)}; };
  const Index number = h.g.first_query * h.s.heads + h.head * h.g.queries;
  for (Index c = 0; c < order.chunks(); ++c) {
    std::vector<Index> met;
    const auto meet = [&](Index chunk) {
      for (Index n = chunk * order.chunk; n < (chunk + 1) * order.chunk; ++n) {
        if (place(n) >= 0) met.push_back(place(n));
      }
    };
    if (order.chunks() > 1) meet(c > 0 ? c - 1 : order.chunks() - 1);
    meet(c);
    for (Index r = 0; r < order.chunk; ++r) {
      const Index i = place(c * order.chunk + r);
      if (i < 0) continue;
      Matrix ones = Matrix::Ones(1, std::ssize(met));
      dropout.apply(ones.data(), ones.size(), first_weight(order, number, c, r));
      for (Index n = 0; n < std::ssize(met); ++n) {
        const Index j = at(met, n);
        const double weight = i == j ? (met.size() == 1 ? 1 : 0) : std::exp(scores(i, j));
        at(sums, i) += weight;
        out.row(i) += weight * static_cast<double>(ones(0, n)) * h.part(in[2]).row(j);
      }
    }
  }
  for (Index i = 0; i < h.g.keys; ++i) {
    if (at(sums, i) > 0) out.row(i) /= at(sums, i);
  }
  return out;
}

void check_kind_gradients(const ApproximationSetting& s) {
  CAPTURE(pattern_name(s.type));
  const ApproximationGroups rows(s);
  const Index d = s.width();
  const AttentionPattern pattern = pattern_of(s);
  const AttentionShape shape{
      AttentionSite::encoder_self, 0, s.heads, s.head_dim, s.scale, &pattern};
  const Matrix queries = random_matrix(rows.rows, d, "queries", 1.5F);
  const Matrix memory = random_matrix(rows.rows, 2 * d, "memory", 1.5F);
  const Matrix doutput = random_matrix(rows.rows, d, "doutput");
  Matrix e = random_matrix(kPlaces, kRank, "e"), f = random_matrix(kPlaces, kRank, "f");
  Matrix features = random_matrix(kFeatures, s.head_dim, "features", 2.0F);
  Matrix rotations = random_matrix(d, 3 * 3, "rotations");
  const ExtraAttentionParameters extras{view(e), view(f), view(features), view(rotations)};
  const AttentionInput input{queries, keys_and_values(memory), rows.groups, nullptr, &extras};

  Matrix output = poisoned(rows.rows, d), dqueries = output, dmemory = poisoned(rows.rows, 2 * d);
  AddedTo de(kPlaces, kRank, "de"), df(kPlaces, kRank, "df");
  const ExtraAttentionParameters dextras{view(de.now), view(df.now), {}, {}};
  SavedForBackward kept;
  attend_training(shape, input, s.dropout, output, kept);
  AttentionInputGradient gradient = input_gradient(dqueries, dmemory);
  gradient.extras = &dextras;
  attend_backward(shape, input, kept, doutput, gradient);

  // Checks each head of each sentence alone, because no other head or sentence affects it.
  std::vector<DoubleMatrix> in{queries.cast<double>(), memory.leftCols(d).cast<double>(),
                               memory.rightCols(d).cast<double>(), e.cast<double>(),
                               f.cast<double>()};
  DoubleMatrix expected = DoubleMatrix::Zero(rows.rows, d);
  std::vector<DoubleMatrix> found;
  for (const DoubleMatrix& x : in) found.push_back(DoubleMatrix::Zero(x.rows(), x.cols()));
  Index mask_number = 0;
  for (const AttentionGroup& g : rows.groups) {
    for (Index head = 0; head < s.heads; ++head) {
      const DoubleHead h{s, g, head};
      Matrix ones = Matrix::Ones(g.queries, kRank);
      s.dropout.apply(ones.data(), ones.size(), mask_number);
      mask_number += ones.size();
      const DoubleMatrix mask = ones.cast<double>();
      const Stabilisers constants(h, in, features);
      const LshOrder order =
          s.type == PatternType::lsh ? lsh_order(shape, input, g, head) : LshOrder{};
      const auto run = [&]() -> DoubleMatrix {
        if (s.type == PatternType::linformer) return linformer_of(h, in, mask);
        if (s.type == PatternType::lsh) return lsh_of(h, in, order, s.dropout);
        return performer_of(h, in, features, constants);
      };
      const Index first = g.first_query, column = head * s.head_dim;
      expected.block(first, column, g.keys, s.head_dim) = run();
      const Matrix weight = doutput.block(first, column, g.keys, s.head_dim);
      for (std::size_t which = 0; which < (s.type == PatternType::linformer ? 5U : 3U); ++which) {
        const bool projection = which >= 3;
        const Index top = projection ? 0 : first, left = projection ? 0 : column;
        const Index across = projection ? kRank : s.head_dim;
        for (Index i = top; i < top + g.keys; ++i) {
          for (Index c = left; c < left + across; ++c) {
            constexpr double kStep = 1e-5;
            double& element = in[which](i, c);
            const double before = element;
            element = before + kStep;
            const double above = weighted(weight, run());
            element = before - kStep;
            found[which](i, c) += (above - weighted(weight, run())) / (2 * kStep);
            element = before;
          }
        }
      }
    }
  }
  CHECK(largest_error(output, expected) < 5e-6);
  CHECK(largest_error(dqueries, found[0]) < 1e-5);
  CHECK(largest_error(dmemory.leftCols(d), found[1]) < 1e-5);
  CHECK(largest_error(dmemory.rightCols(d), found[2]) < 1e-5);
  if (s.type != PatternType::linformer) return;
  CHECK(largest_error(de.added(), found[3]) < 1e-5);
  CHECK(largest_error(df.added(), found[4]) < 1e-5);
}

const std::vector<Index> kLengths{1, 2, 4, 5, 8, 9, 13};

}  // namespace

TEST_CASE("linformer, performer and lsh: gradients are those of the formulas") {
  using enum PatternType;
  for (const PatternType type : {linformer, performer, lsh}) {
    check_kind_gradients({type, kLengths});
    check_kind_gradients({type, {20}, 1, 4});
  }
}

TEST_CASE("linformer, performer and lsh: gradients with padding, and of a sentence of it alone") {
  using enum PatternType;
  for (const PatternType type : {linformer, performer, lsh}) {
    ApproximationSetting s{type, kLengths};
    s.hide = true;
    check_kind_gradients(s);
  }
}

TEST_CASE("linformer and lsh: gradients through dropout of the weights") {
  for (const PatternType type : {PatternType::linformer, PatternType::lsh}) {
    ApproximationSetting s{type, kLengths};
    s.dropout = Dropout(0.3F, 5);
    check_kind_gradients(s);
    s.hide = true;
    check_kind_gradients(s);
  }
}

TEST_CASE("performer: gradients of causal rows, beyond a tile too") {
  // One narrow head: the formula in double is slow, especially under sanitizers.
  ApproximationSetting s{PatternType::performer, kLengths, 1, 2, true};
  check_kind_gradients(s);
  s.hide = true;
  check_kind_gradients(s);
  check_kind_gradients({PatternType::performer, {66}, 1, 1, true});
  check_kind_gradients({PatternType::performer, {129}, 1, 1});
}
