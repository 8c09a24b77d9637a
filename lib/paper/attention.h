// Attention as in "Attention Is All You Need" (Vaswani et al. 2017). Start here, then read layer.h,
// transformer.h, backward.h (gradients), train.h, and variants.h (what later models changed).
//
// This code is written to be read: plain matrices of doubles, one sentence at a time. lib/nn and
// lib/model compute the same for batches, fast, and are tested against it. Functions return a
// cache: their output, and what else the gradient needs. Comments give the shape of every matrix:
//   L target length: the rows that look (queries)    D d_model             F feed-forward width
//   S source length: the rows looked at (keys)       K head_dim = D / H    V vocabulary, H heads
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/index.h"

namespace attn::paper {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::RowVectorXd;
using Column = Eigen::VectorXd;
using Tokens = std::span<const int>;

/// y = x · W + b, for each row of x.
struct Linear {
  Matrix weight;  ///< W [in, out]
  Row bias;       ///< b [out]
  Matrix operator()(const Matrix& x) const { return (x * weight).rowwise() + bias; }
};

/// Turns each row of scores [L, S] into weights, exp(xⱼ) / Σₖ exp(xₖ). Subtracting the maximum
/// keeps exp() finite and changes no weight. A row of −∞, a query that sees no key, becomes a row
/// of 0.
inline Matrix softmax(Matrix x) {
  for (Index i = 0; i < x.rows(); ++i) {
    const double max = std::max(x.row(i).maxCoeff(), std::numeric_limits<double>::lowest());
    for (double& score : x.row(i)) score = std::exp(score - max);
    if (const double sum = x.row(i).sum(); sum != 0) x.row(i) /= sum;
  }
  return x;
}

struct AttentionCache {
  Matrix q, k, v;               ///< [L, K], [S, K], [S, K]
  Matrix weights, attn_output;  ///< [L, S], the map that the program shows; [L, K]
};

/// Equation 1: Attention(Q, K, V) = softmax(Q · Kᵀ · scale + mask) · V, where the scale is 1/√K.
/// Each query takes a weighted mean of the values.
inline AttentionCache attention(const Matrix& q, const Matrix& k, const Matrix& v, double scale,
                                const Matrix& mask) {
  const Matrix weights = softmax(q * k.transpose() * scale + mask);  // [L, S]
  return {q, k, v, weights, weights * v};
}

/// Every query may look at every key: 0 is added to the scores [L, S].
inline Matrix no_mask(Index queries, Index keys) {
  return Matrix::Zero(queries, keys);
}

/// No query looks ahead (section 3.2.3): −∞ is added to the scores [L, S] of later keys, and
/// exp(−∞) is exactly 0. If there are more keys than queries, the queries have the last positions.
inline Matrix causal_mask(Index queries, Index keys) {
  Matrix mask = no_mask(queries, keys);
  for (Index i = 0; i < queries; ++i) {
    mask.row(i)
        .tail(std::min(queries - 1 - i, keys))
        .setConstant(-std::numeric_limits<double>::infinity());
  }
  return mask;
}

/// The paper gives each head small matrices [D, K] of its own. Here they are column blocks of one
/// matrix [D, D]: head h owns the columns h·K to (h + 1)·K − 1.
struct MultiHead {
  Linear query, key, value, output;  ///< W^Q, W^K, W^V and W^O, [D, D] each
  Index heads = 1;                   ///< H
  double scale = 1;                  ///< 1/√K
};

struct MultiHeadCache {
  Matrix x, memory;                   ///< [L, D], [S, D]
  std::vector<AttentionCache> heads;  ///< H of them
  Matrix attn_output, output;         ///< [L, D]: the heads side by side; those · W^O
};

/// Section 3.2.2: MultiHead(Q, K, V) = Concat(head₁, …, head_H) · W^O. The rows of x [L, D] look at
/// those of memory [S, D]; in self-attention these are the same rows. mask [L, S]
inline MultiHeadCache multi_head(const MultiHead& layer, const Matrix& x, const Matrix& memory,
                                 const Matrix& mask) {
  const Matrix q = layer.query(x);                // [L, D]
  const Matrix k = layer.key(memory);             // [S, D]
  const Matrix v = layer.value(memory);           // [S, D]
  const Index head_dim = q.cols() / layer.heads;  // K
  MultiHeadCache cache{x, memory, {}, Matrix(q.rows(), q.cols()), {}};
  for (Index h = 0; h < layer.heads; ++h) {
    const auto own = Eigen::seqN(h * head_dim, head_dim);  // the columns of head h
    cache.heads.push_back(
        attention(q(Eigen::all, own), k(Eigen::all, own), v(Eigen::all, own), layer.scale, mask));
    cache.attn_output(Eigen::all, own) = cache.heads.back().attn_output;
  }
  cache.output = layer.output(cache.attn_output);
  return cache;
}

}  // namespace attn::paper
