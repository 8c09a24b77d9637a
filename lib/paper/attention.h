// Attention as the paper has it (Vaswani et al. 2017, "Attention Is All You Need", section 3.2).
// Begin here; layer.h, transformer.h and backward.h follow in the order of the paper.
//
// These files are written to be read: one sentence, Eigen's matrices, nothing kept and nothing made
// fast. lib/nn and lib/model compute the same for batches, quickly, and are tested against this.
// T is the scalar: float, or double where somebody wants to know how far float is off.
//
// Letters of the shapes:
//   L queries, the rows that look         D d_model             F width of the feed-forward layer
//   S keys, the rows that are looked at   K head_dim = D / H    V vocabulary
//                                         H heads               P positions
//                                         I = H · K, D but where head_dim is free
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "base/relative_position_buckets.h"

namespace attn::paper {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using Row = Eigen::Matrix<T, 1, Eigen::Dynamic>;

/// y = x · W + b.
template <typename T>
struct Linear {
  Matrix<T> weight;  ///< [in, out]
  Row<T> bias;       ///< [out]; empty: none

  Matrix<T> operator()(const Matrix<T>& x) const {  // [L, in] → [L, out]
    if (bias.size() == 0) return x * weight;
    return (x * weight).rowwise() + bias;
  }
};

/// Of every row the shares exp(xⱼ) / Σₖ exp(xₖ). The row's maximum is subtracted first, which
/// changes no share and keeps exp() from overflowing. A row of −∞ alone has no shares: zeros.
template <typename T>
Matrix<T> softmax(Matrix<T> x) {  // [L, S] → [L, S]
  for (Index i = 0; i < x.rows(); ++i) {
    const T top = x.row(i).maxCoeff();
    if (top == -std::numeric_limits<T>::infinity()) {
      x.row(i).setZero();
      continue;
    }
    x.row(i) = x.row(i).unaryExpr([top](T score) { return std::exp(score - top); });
    x.row(i) /= x.row(i).sum();
  }
  return x;
}

/// Equation 1. Every query takes a weighted mean of the values. How much of each is said by how
/// well the query fits the value's key (their dot product), made into shares by softmax.
///   q [L, K], k and v [S, K], scale 1/√K, mask [L, S] → [L, K]
template <typename T>
Matrix<T> attention(const Matrix<T>& q, const Matrix<T>& k, const Matrix<T>& v, T scale,
                    const Matrix<T>& mask) {
  return softmax<T>(q * k.transpose() * scale + mask) * v;
}

/// The shares alone, for whoever wants to see them: attention's map. → [L, S]
template <typename T>
Matrix<T> attention_weights(const Matrix<T>& q, const Matrix<T>& k, T scale,
                            const Matrix<T>& mask) {
  return softmax<T>(q * k.transpose() * scale + mask);
}

/// Everybody may look at everything.
template <typename T>
Matrix<T> no_mask(Index queries, Index keys) {
  return Matrix<T>::Zero(queries, keys);  // [L, S]
}

/// Nobody looks ahead (section 3.2.3): query i sees key j only where j ≤ i. Elsewhere −∞ is added
/// to the score, and exp(−∞) is exactly 0. With more keys than queries, as in the steps of a
/// decoder that keeps its past, the queries are the last ones.
template <typename T>
Matrix<T> causal_mask(Index queries, Index keys) {
  Matrix<T> mask = no_mask<T>(queries, keys);  // [L, S]
  for (Index i = 0; i < queries; ++i) {
    const Index later = std::min(queries - 1 - i, keys);
    mask.row(i).tail(later).setConstant(-std::numeric_limits<T>::infinity());
  }
  return mask;
}

/// T5 knows places by this alone (Raffel et al. 2020): each head adds a number to a score, which
/// is that of the bucket of the distance between query and key.
template <typename T>
struct RelativeBias {
  Matrix<T> table;  ///< [buckets, H]; empty: the model has none
  DistanceBuckets buckets = {};

  /// [L, S] `mask`, and what head h adds. The queries are the last of the keys' places.
  Matrix<T> with(Matrix<T> mask, Index h) const {
    if (table.size() == 0) return mask;
    const Index first = mask.cols() - mask.rows();
    for (Index i = 0; i < mask.rows(); ++i) {
      for (Index j = 0; j < mask.cols(); ++j) mask(i, j) += table(buckets.of(j - first - i), h);
    }
    return mask;
  }
};

/// RoFormer turns queries and keys (Su et al. 2021): at place p, columns i and i + K/2 by the angle
/// p / 10000^(2i/K), so that q · k tells their distance. `way` −1: back.
template <typename T>
Matrix<T> turned(Matrix<T> x, T way) {  // [L, K] → [L, K]
  const Index half = x.cols() / 2;
  for (Index n = 0; n < x.rows() * half; ++n) {
    T &a = x(n / half, n % half), &b = x(n / half, n % half + half);
    const T wave = std::pow(T(10000), static_cast<T>(n % half) / static_cast<T>(half));
    const auto z = std::complex<T>(a, b) * std::polar(T(1), way * static_cast<T>(n / half) / wave);
    a = z.real();
    b = z.imag();
  }
  return x;
}

/// The weights of one multi-head attention.
template <typename T>
struct MultiHead {
  Linear<T> query;   ///< W^Q of all heads side by side, [D, I]: head h owns the columns
                     ///< h·K … (h+1)·K − 1 of what it computes
  Linear<T> key;     ///< W^K, likewise
  Linear<T> value;   ///< W^V, likewise
  Linear<T> output;  ///< W^O [I, D]
  Index heads = 1;   ///< H
  T scale = 1;       ///< 1/√K, or 1 in models that do not scale
  RelativeBias<T> relative = {};
  bool rotary = false;  ///< queries and keys are turned by their places
  Matrix<T> placed(const Matrix<T>& x, T way = 1) const { return rotary ? turned<T>(x, way) : x; }
};

/// The weights of every head, [L, S] each, for whoever wants to see them.
template <typename T>
using Maps = std::vector<Matrix<T>>;

/// Section 3.2.2: MultiHead(Q, K, V) = Concat(head₁ … head_H) · W^O,
/// head_h = Attention(x · W^Q_h, memory · W^K_h, memory · W^V_h).
/// The H small matrices W_h [D, K] are column blocks of one physical matrix [D, I], and so are
/// their products. Each head writes its own block of `heads`, so "Concat" moves nothing.
///   x [L, D] asks, memory [S, D] answers; in self-attention they are the same rows → [L, D]
template <typename T>
Matrix<T> multi_head(const MultiHead<T>& layer, const Matrix<T>& x, const Matrix<T>& memory,
                     const Matrix<T>& mask, Maps<T>* maps) {
  const Matrix<T> q = layer.query(x);             // [L, I]
  const Matrix<T> k = layer.key(memory);          // [S, I]
  const Matrix<T> v = layer.value(memory);        // [S, I]
  const Index head_dim = q.cols() / layer.heads;  // K
  Matrix<T> heads(q.rows(), q.cols());            // [L, I]
  for (Index h = 0; h < layer.heads; ++h) {       // head h: columns h·K … (h+1)·K − 1
    const auto own = Eigen::seqN(h * head_dim, head_dim);
    const Matrix<T> q_h = layer.placed(q(Eigen::all, own)), k_h = layer.placed(k(Eigen::all, own));
    const Matrix<T> v_h = v(Eigen::all, own);
    const Matrix<T> added = layer.relative.with(mask, h);                      // [L, S]
    heads(Eigen::all, own) = attention<T>(q_h, k_h, v_h, layer.scale, added);  // [L, K]
    if (maps != nullptr) maps->push_back(attention_weights<T>(q_h, k_h, layer.scale, added));
  }
  return layer.output(heads);  // [L, D]
}

}  // namespace attn::paper
