// The gradients, from the loss back to every parameter.
//
// Each function belongs to one of the forward pass. It takes the layer, the cache that the forward
// function returned, and d_y, the gradient of the loss with respect to the output y. It returns the
// gradients of the inputs and the parameters. Comments quote the forward line of each derivative.
#pragma once

#include <utility>

#include "paper/transformer.h"

namespace attn::paper {

template <typename Layer>
struct Gradient {
  Matrix x;            ///< of the input, [L, D]
  Layer layer;         ///< of the parameters, each in its own shape
  Matrix memory = {};  ///< of the rows that attention looked at, [S, D]
};

inline Gradient<Linear> linear_backward(const Linear& layer, const Matrix& x, const Matrix& d_y) {
  // y = x · W + b
  return {d_y * layer.weight.transpose(), {x.transpose() * d_y, d_y.colwise().sum()}};
}

/// weights [L, S] is what softmax() returned. Where a mask made a weight 0, the gradient is 0, too.
inline Matrix softmax_backward(const Matrix& weights, const Matrix& d_weights) {
  // wⱼ = exp(xⱼ) / Σₖ exp(xₖ), so ∂wⱼ/∂xₖ = wⱼ · (1[j = k] − wₖ)
  const Column mean = weights.cwiseProduct(d_weights).rowwise().sum();  // [L]
  return weights.cwiseProduct(Matrix(d_weights.colwise() - mean));      // [L, S]
}

struct AttentionGradient {
  Matrix q, k, v;  ///< [L, K], [S, K], [S, K]
  Matrix scores;   ///< of Q · Kᵀ · scale + mask, [L, S]
};

inline AttentionGradient attention_backward(const AttentionCache& cache, double scale,
                                            const Matrix& d_y) {
  // y = weights · V
  const Matrix d_v = cache.weights.transpose() * d_y;  // [S, K]
  const Matrix d_weights = d_y * cache.v.transpose();  // [L, S]
  // weights = softmax(scores), scores = Q · Kᵀ · scale + mask
  const Matrix d_scores = softmax_backward(cache.weights, d_weights);  // [L, S]
  return {d_scores * cache.k * scale, d_scores.transpose() * cache.q * scale, d_v, d_scores};
}

inline Gradient<MultiHead> multi_head_backward(const MultiHead& layer, const MultiHeadCache& cache,
                                               const Matrix& d_y) {
  // y = attn_output · W^O + b
  const auto output = linear_backward(layer.output, cache.attn_output, d_y);
  const Matrix& d_attn = output.x;  // [L, D]
  // attn_output = [head₁, …, head_H], each from its own columns of q, k and v
  Matrix d_q(d_attn.rows(), d_attn.cols());                   // [L, D]
  Matrix d_k(cache.memory.rows(), d_attn.cols()), d_v = d_k;  // [S, D]
  const Index head_dim = d_attn.cols() / layer.heads;         // K
  for (Index h = 0; h < layer.heads; ++h) {
    const auto own = Eigen::seqN(h * head_dim, head_dim);
    const AttentionCache& head = cache.heads[std::size_t(h)];
    const auto d = attention_backward(head, layer.scale, d_attn(Eigen::all, own));
    d_q(Eigen::all, own) = d.q;
    d_k(Eigen::all, own) = d.k;
    d_v(Eigen::all, own) = d.v;
  }
  // q = x · W^Q + b, k = memory · W^K + b, v = memory · W^V + b
  const auto query = linear_backward(layer.query, cache.x, d_q);
  const auto key = linear_backward(layer.key, cache.memory, d_k);
  const auto value = linear_backward(layer.value, cache.memory, d_v);
  return {query.x, {query.layer, key.layer, value.layer, output.layer}, key.x + value.x};
}

inline Gradient<LayerNorm> scale_rows_backward(const LayerNorm& layer, const LayerNormCache& cache,
                                               const Matrix& d_y) {
  // y = normalized ⊙ weight + bias
  const LayerNorm d_layer{d_y.cwiseProduct(cache.normalized).colwise().sum(), d_y.colwise().sum()};
  const Matrix d = d_y.array().rowwise() * layer.weight.array();  // [L, D]
  // normalized = x / √(mean of x² + ε): the divisor undoes what only stretches a row
  const Column stretch = d.cwiseProduct(cache.normalized).rowwise().mean();  // [L]
  const Matrix rest = d.array() - cache.normalized.array().colwise() * stretch.array();
  return {rest.array().colwise() / cache.deviation.array(), d_layer};
}

inline Gradient<LayerNorm> layer_norm_backward(const LayerNorm& layer, const LayerNormCache& cache,
                                               const Matrix& d_y) {
  Gradient<LayerNorm> d = scale_rows_backward(layer, cache, d_y);
  // centered = x − mean: it undoes what only shifts a row
  const Column shift = d.x.rowwise().mean();  // [L]
  d.x.colwise() -= shift;
  return d;
}

inline Gradient<FeedForward> feed_forward_backward(const FeedForward& layer,
                                                   const FeedForwardCache& cache,
                                                   const Matrix& d_y) {
  // y = hidden · W₂ + b₂
  const auto second = linear_backward(layer.second, cache.hidden, d_y);
  // hidden = activation(sums), sums = x · W₁ + b₁
  const Matrix d_sums = second.x.cwiseProduct(cache.sums.unaryExpr(layer.slope));  // [L, F]
  const auto first = linear_backward(layer.first, cache.x, d_sums);
  return {first.x, {first.layer, second.layer}};
}

inline Gradient<EncoderLayer> encoder_layer_backward(const EncoderLayer& layer,
                                                     const EncoderLayerCache& cache,
                                                     const Matrix& d_output) {
  // output = norm(y + feed_forward(y)): a sum hands its gradient to both terms
  const auto feed_norm = layer_norm_backward(layer.feed_norm, cache.feed_norm, d_output);
  const auto feed = feed_forward_backward(layer.feed_forward, cache.feed_forward, feed_norm.x);
  // y = norm(x + self_attention(x, x))
  const Matrix d_y = feed_norm.x + feed.x;  // [L, D]
  const auto self_norm = layer_norm_backward(layer.self_norm, cache.self_norm, d_y);
  const auto self = multi_head_backward(layer.self_attention, cache.self_attention, self_norm.x);
  return {self_norm.x + self.x + self.memory,
          {self.layer, feed.layer, self_norm.layer, feed_norm.layer}};
}

inline Gradient<DecoderLayer> decoder_layer_backward(const DecoderLayer& layer,
                                                     const DecoderLayerCache& cache,
                                                     const Matrix& d_output) {
  // output = norm(z + feed_forward(z))
  const auto feed_norm = layer_norm_backward(layer.feed_norm, cache.feed_norm, d_output);
  const auto feed = feed_forward_backward(layer.feed_forward, cache.feed_forward, feed_norm.x);
  // z = norm(y + cross_attention(y, memory))
  const Matrix d_z = feed_norm.x + feed.x;  // [L, D]
  const auto cross_norm = layer_norm_backward(layer.cross_norm, cache.cross_norm, d_z);
  const auto cross =
      multi_head_backward(layer.cross_attention, cache.cross_attention, cross_norm.x);
  // y = norm(x + self_attention(x, x))
  const Matrix d_y = cross_norm.x + cross.x;  // [L, D]
  const auto self_norm = layer_norm_backward(layer.self_norm, cache.self_norm, d_y);
  const auto self = multi_head_backward(layer.self_attention, cache.self_attention, self_norm.x);
  const EncoderLayer rest{self.layer, feed.layer, self_norm.layer, feed_norm.layer};
  return {self_norm.x + self.x + self.memory, {rest, cross.layer, cross_norm.layer}, cross.memory};
}

inline Embedding embedding_backward(const Embedding& embedding, Tokens sentence,
                                    const Matrix& d_y) {
  Embedding d = embedding;
  d.tokens.setZero();
  d.positions.setZero();
  for (Index t = 0; t < d_y.rows(); ++t) {
    // y = token's row · scale + position's row; a token may occur several times
    d.tokens.row(sentence[std::size_t(t)]) += d_y.row(t) * embedding.scale;
    d.positions.row(t) += d_y.row(t);
  }
  return d;
}

/// The logarithm of softmax(), from logits [L, V] to log-probabilities [L, V].
inline Matrix log_softmax(Matrix x) {
  for (Index t = 0; t < x.rows(); ++t) {
    const double max = x.row(t).maxCoeff();
    x.row(t).array() -= max + std::log((x.row(t).array() - max).exp().sum());
  }
  return x;
}

/// The loss −Σ ln p(label), p = softmax(logits), and its gradient [L, V]: for each token, how much
/// probability it has too much.
inline std::pair<double, Matrix> cross_entropy(const Matrix& logits, Tokens labels) {
  const Matrix log_p = log_softmax(logits);  // [L, V]
  double loss = 0;
  Matrix d_logits = log_p.array().exp();  // [L, V]
  for (Index t = 0; t < logits.rows(); ++t) {
    loss -= log_p(t, labels[std::size_t(t)]);
    d_logits(t, labels[std::size_t(t)]) -= 1;
  }
  return {loss, d_logits};
}

/// The loss of a decoder that reads `target` and should write `labels`, and the gradient of all
/// parameters. If a model ties embeddings and output, add up the gradients of the three matrices.
inline std::pair<double, Transformer> loss_and_gradient(const Transformer& model, Tokens source,
                                                        Tokens target, Tokens labels) {
  const std::vector<EncoderLayerCache> encoder = encode(model, source);
  const Matrix& memory = encoder.back().output();  // [S, D]
  const std::vector<DecoderLayerCache> decoder = decode(model, target, memory);
  const Matrix& rows = decoder.back().output();  // [L, D]
  const auto [loss, d_logits] = cross_entropy(model.output(rows), labels);

  Transformer gradient = model;  // for the shapes
  auto [d_rows, d_output, none] = linear_backward(model.output, rows, d_logits);
  gradient.output = d_output;
  Matrix d_memory = Matrix::Zero(memory.rows(), memory.cols());  // [S, D]
  for (std::size_t i = decoder.size(); i-- > 0;) {               // the last layer first
    const auto layer = decoder_layer_backward(model.decoder[i], decoder[i], d_rows);
    gradient.decoder[i] = layer.layer;
    d_rows = layer.x;
    d_memory += layer.memory;  // each layer of the decoder looked at it
  }
  for (std::size_t i = encoder.size(); i-- > 0;) {
    const auto layer = encoder_layer_backward(model.encoder[i], encoder[i], d_memory);
    gradient.encoder[i] = layer.layer;
    d_memory = layer.x;
  }
  gradient.target = embedding_backward(model.target, target, d_rows);
  gradient.source = embedding_backward(model.source, source, d_memory);
  return {loss, gradient};
}

}  // namespace attn::paper
