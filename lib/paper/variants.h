// The parts in which later models differ, one by one, built on the classic functions.
#pragma once

#include <complex>
#include <optional>

#include "base/relative_position_buckets.h"
#include "paper/layer.h"

namespace attn::paper::variants {

/// Swish in place of ReLU: x · sigmoid(x) (Ramachandran et al. 2017), as in the shipped model.
inline double swish(double x) {
  return x / (1 + std::exp(-x));
}
inline double swish_slope(double x) {
  return swish(x) + (1 - swish(x)) / (1 + std::exp(-x));
}

/// T5 adds no positions to the tokens. Instead, each head adds a learned bias to each score,
/// depending on the distance between query and key (Raffel et al. 2020).
struct RelativePositionBias {
  Matrix table;  ///< [buckets, H]
  RelativePositionBuckets buckets;

  /// Returns the bias that head h adds to the scores [L, S]. The queries have the last positions.
  Matrix operator()(Index h, Index queries, Index keys) const {
    Matrix bias(queries, keys);
    for (Index i = 0; i < queries; ++i) {
      const Index position = i + keys - queries;
      for (Index j = 0; j < keys; ++j) bias(i, j) = table(buckets.of(j - position), h);
    }
    return bias;
  }
};

/// Rotary position embedding (Su et al. 2021): at position p, columns i and i + K/2 of a query or
/// key are rotated by the angle p / 10000^(2i/K), so that q · k depends on the distance. x [L, K];
/// the direction −1 undoes the rotation.
inline Matrix apply_rotary(Matrix x, double direction = 1) {
  const Index half = x.cols() / 2;
  for (Index p = 0; p < x.rows(); ++p) {
    for (Index i = 0; i < half; ++i) {
      const double angle = double(p) / std::pow(10000.0, double(i) / double(half));
      const auto turn = std::polar(1.0, direction * angle);
      const auto pair = std::complex(x(p, i), x(p, i + half)) * turn;
      x(p, i) = pair.real();
      x(p, i + half) = pair.imag();
    }
  }
  return x;
}

struct MultiHead : paper::MultiHead {
  std::optional<RelativePositionBias> bias = {};
  bool rotary = false;
  Index queries_per_kv_head = 1;  ///< heads that share a key and value head (Ainslie et al. 2023)
};

/// Like paper::multi_head(), but key and value may have fewer heads than query.
inline MultiHeadCache multi_head(const MultiHead& layer, const Matrix& x, const Matrix& memory,
                                 const Matrix& mask) {
  const Matrix q = layer.query(x);                // [L, H·K]
  const Matrix k = layer.key(memory);             // [S, H·K / queries_per_kv_head]
  const Matrix v = layer.value(memory);           // [S, H·K / queries_per_kv_head]
  const Index head_dim = q.cols() / layer.heads;  // K
  MultiHeadCache cache{x, memory, {}, Matrix(q.rows(), q.cols()), {}};
  for (Index h = 0; h < layer.heads; ++h) {
    const auto own = Eigen::seqN(h * head_dim, head_dim);
    const auto shared = Eigen::seqN(h / layer.queries_per_kv_head * head_dim, head_dim);
    Matrix q_h = q(Eigen::all, own), k_h = k(Eigen::all, shared), bias = mask;
    if (layer.rotary) q_h = apply_rotary(q_h), k_h = apply_rotary(k_h);
    if (layer.bias) bias += (*layer.bias)(h, mask.rows(), mask.cols());
    cache.heads.push_back(attention(q_h, k_h, v(Eigen::all, shared), layer.scale, bias));
    cache.attn_output(Eigen::all, own) = cache.heads.back().attn_output;
  }
  cache.output = layer.output(cache.attn_output);
  return cache;
}

/// RMS norm (Zhang and Sennrich 2019) keeps the mean of each row and has no bias, which is 0 here.
/// Pre-norm (Xiong et al. 2020) computes x + block(norm(x)), post-norm norm(x + block(x)).
struct LayerNorm : paper::LayerNorm {
  bool rms = false, pre_norm = false;
};

inline LayerNormCache layer_norm(const LayerNorm& layer, const Matrix& x) {
  return layer.rms ? scale_rows(layer, x) : paper::layer_norm(layer, x);
}

/// Returns the input of a block: the residual stream x [L, D], normalized in pre-norm models.
inline LayerNormCache norm_before(const LayerNorm& layer, const Matrix& x) {
  return layer.pre_norm ? layer_norm(layer, x) : LayerNormCache{{}, {}, x};
}

/// Returns the sum [L, D] of the residual stream and the block's output, normalized in post-norm
/// models.
inline LayerNormCache norm_after(const LayerNorm& layer, const Matrix& sum) {
  return layer.pre_norm ? LayerNormCache{{}, {}, sum} : layer_norm(layer, sum);
}

/// A gate (Shazeer 2020): a second matrix multiplication decides how much of each hidden number
/// passes.
struct FeedForward : paper::FeedForward {
  std::optional<Linear> gate = {};  ///< [D, F]
};

struct FeedForwardCache : paper::FeedForwardCache {
  Matrix gates;  ///< [L, F], 1 without a gate
};

inline FeedForwardCache feed_forward(const FeedForward& layer, const Matrix& x) {
  const Matrix sums = layer.first(x);  // [L, F]
  const Matrix gates = layer.gate ? (*layer.gate)(x) : Matrix::Ones(x.rows(), sums.cols());
  const Matrix hidden = sums.unaryExpr(layer.activation).cwiseProduct(gates);  // [L, F]
  return {{x, layer.second(hidden), sums, hidden}, gates};
}

}  // namespace attn::paper::variants
