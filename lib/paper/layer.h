// The layers of the encoder and of the decoder, as figure 1 of the paper draws them.
#pragma once

#include "paper/attention.h"

namespace attn::paper {

/// Layer normalization (Ba et al. 2016): rows of mean 0 and variance 1, and then weight and bias.
struct LayerNorm {
  Row weight, bias;       ///< [D]
  double epsilon = 1e-5;  ///< added to the variance, so that nothing is divided by 0
};

struct LayerNormCache {
  Column deviation;           ///< [L]
  Matrix normalized, output;  ///< [L, D]: rows of mean 0 and variance 1; weighted, with bias
};

/// The second step of layer_norm(), for rows x [L, D] that have mean 0.
inline LayerNormCache scale_rows(const LayerNorm& layer, const Matrix& x) {
  const Column deviation = (x.array().square().rowwise().mean() + layer.epsilon).sqrt();  // [L]
  const Matrix normalized = x.array().colwise() / deviation.array();                      // [L, D]
  const Matrix weighted = normalized.array().rowwise() * layer.weight.array();            // [L, D]
  return {deviation, normalized, weighted.rowwise() + layer.bias};
}

inline LayerNormCache layer_norm(const LayerNorm& layer, const Matrix& x) {
  return scale_rows(layer, x.colwise() - x.rowwise().mean());
}

struct FeedForward {
  Linear first, second;  ///< W₁ [D, F], W₂ [F, D]
  double (*activation)(double) = [](double x) { return std::max(x, 0.0); };  ///< ReLU
  double (*slope)(double) = [](double x) { return x > 0 ? 1.0 : 0.0; };      ///< its derivative
};

struct FeedForwardCache {
  Matrix x, output;     ///< [L, D]
  Matrix sums, hidden;  ///< [L, F]: before and after the activation
};

/// Section 3.3, equation 2: FFN(x) = activation(x · W₁ + b₁) · W₂ + b₂, for each token by itself.
inline FeedForwardCache feed_forward(const FeedForward& layer, const Matrix& x) {
  const Matrix sums = layer.first(x);                      // [L, F]
  const Matrix hidden = sums.unaryExpr(layer.activation);  // [L, F]
  return {x, layer.second(hidden), sums, hidden};
}

/// The left half of figure 1.
struct EncoderLayer {
  MultiHead self_attention;
  FeedForward feed_forward;
  LayerNorm self_norm, feed_norm;
};

struct EncoderLayerCache {
  MultiHeadCache self_attention;
  FeedForwardCache feed_forward;
  LayerNormCache self_norm, feed_norm;
  const Matrix& output() const { return feed_norm.output; }  // [L, D]
};

/// Each token looks at all tokens of its sentence, then passes the feed-forward network by itself.
/// Residual connections lead around both: what a block returns is added to what went in, and the
/// sum is normalized ("Add & Norm", today called post-norm). x [L, D]
inline EncoderLayerCache encoder_layer(const EncoderLayer& layer, const Matrix& x) {
  EncoderLayerCache cache;
  cache.self_attention = multi_head(layer.self_attention, x, x, no_mask(x.rows(), x.rows()));
  cache.self_norm = layer_norm(layer.self_norm, x + cache.self_attention.output);
  const Matrix& y = cache.self_norm.output;  // [L, D]
  cache.feed_forward = feed_forward(layer.feed_forward, y);
  cache.feed_norm = layer_norm(layer.feed_norm, y + cache.feed_forward.output);
  return cache;
}

/// The right half of figure 1 has cross-attention between the two blocks.
struct DecoderLayer : EncoderLayer {
  MultiHead cross_attention;
  LayerNorm cross_norm;
};

struct DecoderLayerCache : EncoderLayerCache {
  MultiHeadCache cross_attention;
  LayerNormCache cross_norm;
};

/// Each token looks at itself and those before it, then at memory [S, D], the encoder's output.
inline DecoderLayerCache decoder_layer(const DecoderLayer& layer, const Matrix& x,
                                       const Matrix& memory) {
  DecoderLayerCache cache;
  cache.self_attention = multi_head(layer.self_attention, x, x, causal_mask(x.rows(), x.rows()));
  cache.self_norm = layer_norm(layer.self_norm, x + cache.self_attention.output);
  const Matrix& y = cache.self_norm.output;  // [L, D]
  cache.cross_attention =
      multi_head(layer.cross_attention, y, memory, no_mask(y.rows(), memory.rows()));
  cache.cross_norm = layer_norm(layer.cross_norm, y + cache.cross_attention.output);
  const Matrix& z = cache.cross_norm.output;  // [L, D]
  cache.feed_forward = feed_forward(layer.feed_forward, z);
  cache.feed_norm = layer_norm(layer.feed_norm, z + cache.feed_forward.output);
  return cache;
}

}  // namespace attn::paper
