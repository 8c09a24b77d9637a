// A Transformer with the parts of paper/variants.h, and its gradients: the reference for every
// family of models. The parts of a model determine its variants; without any, it is the paper's
// model.
#pragma once

#include "paper/backward.h"
#include "paper/variants.h"

namespace attn::paper::variants {

struct Layer {
  MultiHead self_attention;
  LayerNorm self_norm;
  std::optional<MultiHead> cross_attention = {};  ///< in decoder layers
  LayerNorm cross_norm = {};
  FeedForward feed_forward;
  LayerNorm feed_norm;
};

/// A block of a layer, whose norm is computed before or after it.
template <typename Block>
struct BlockCache {
  LayerNormCache before, after;
  Block block;
};

struct LayerCache {
  BlockCache<MultiHeadCache> self, cross;
  BlockCache<FeedForwardCache> feed;
  const Matrix& output() const { return feed.after.output; }  // [L, D]
};

/// Runs a layer on x [L, D]; a decoder's layers look at memory [S, D].
inline LayerCache run_layer(const Layer& layer, const Matrix& x, const Matrix& memory) {
  const Index n = x.rows();
  const Matrix self_mask = layer.cross_attention ? causal_mask(n, n) : no_mask(n, n);
  LayerCache c;
  c.self.before = norm_before(layer.self_norm, x);
  const Matrix& rows = c.self.before.output;
  c.self.block = multi_head(layer.self_attention, rows, rows, self_mask);
  c.self.after = norm_after(layer.self_norm, x + c.self.block.output);
  Matrix y = c.self.after.output;
  if (layer.cross_attention) {
    c.cross.before = norm_before(layer.cross_norm, y);
    c.cross.block = multi_head(*layer.cross_attention, c.cross.before.output, memory,
                               no_mask(n, memory.rows()));
    c.cross.after = norm_after(layer.cross_norm, y + c.cross.block.output);
    y = c.cross.after.output;
  }
  c.feed.before = norm_before(layer.feed_norm, y);
  c.feed.block = feed_forward(layer.feed_forward, c.feed.before.output);
  c.feed.after = norm_after(layer.feed_norm, y + c.feed.block.output);
  return c;
}

/// The encoder or the decoder.
struct Stack {
  Embedding embedding;                      ///< positions are 0 if attention handles them
  std::optional<LayerNorm> embedding_norm;  ///< BART's
  std::vector<Layer> layers;
  std::optional<LayerNorm> final_norm;  ///< of pre-norm models
};

struct StackCache {
  LayerNormCache embedding_norm, final_norm;
  std::vector<LayerCache> layers;
  const Matrix& output() const { return final_norm.output; }  // [L, D]
};

inline LayerNormCache norm_if_any(const std::optional<LayerNorm>& norm, const Matrix& x) {
  return norm ? layer_norm(*norm, x) : LayerNormCache{{}, {}, x};
}

inline StackCache run_stack(const Stack& stack, Tokens tokens, const Matrix& memory) {
  StackCache cache;
  cache.embedding_norm = norm_if_any(stack.embedding_norm, stack.embedding(tokens));
  Matrix x = cache.embedding_norm.output;
  for (const Layer& layer : stack.layers) {
    cache.layers.push_back(run_layer(layer, x, memory));
    x = cache.layers.back().output();
  }
  cache.final_norm = norm_if_any(stack.final_norm, x);
  return cache;
}

struct Transformer {
  Stack encoder, decoder;
  Linear output;            ///< [D, V]
  double output_scale = 1;  ///< 1/√D in T5 with tied embeddings
};

struct TransformerCache {
  StackCache encoder, decoder;
  Matrix logits;  ///< [L, V]
};

inline TransformerCache run(const Transformer& model, Tokens source, Tokens target) {
  TransformerCache cache;
  cache.encoder = run_stack(model.encoder, source, {});
  cache.decoder = run_stack(model.decoder, target, cache.encoder.output());
  cache.logits = model.output(cache.decoder.output() * model.output_scale);
  return cache;
}

// ---- gradients ----

inline Gradient<MultiHead> multi_head_backward(const MultiHead& layer, const MultiHeadCache& cache,
                                               const Matrix& d_y) {
  const auto output = linear_backward(layer.output, cache.attn_output, d_y);
  const Index head_dim = output.x.cols() / layer.heads;
  MultiHead d_layer;
  d_layer.bias = layer.bias;
  if (layer.bias) d_layer.bias->table.setZero();
  Matrix d_q(d_y.rows(), output.x.cols());
  Matrix d_k = Matrix::Zero(cache.memory.rows(), layer.key.weight.cols()), d_v = d_k;
  for (Index h = 0; h < layer.heads; ++h) {
    const auto own = Eigen::seqN(h * head_dim, head_dim);
    const auto shared = Eigen::seqN(h / layer.queries_per_kv_head * head_dim, head_dim);
    AttentionGradient d =
        attention_backward(cache.heads[std::size_t(h)], layer.scale, output.x(Eigen::all, own));
    // q_h = apply_rotary(q_h), k_h = apply_rotary(k_h)
    if (layer.rotary) d.q = apply_rotary(d.q, -1), d.k = apply_rotary(d.k, -1);
    d_q(Eigen::all, own) = d.q;
    // heads share their key and value columns
    d_k(Eigen::all, shared) += d.k;
    d_v(Eigen::all, shared) += d.v;
    if (!layer.bias) continue;
    // scores(i, j) += table(bucket of j − i, h)
    const Index first = d.scores.cols() - d.scores.rows();
    for (Index i = 0; i < d.scores.rows(); ++i) {
      for (Index j = 0; j < d.scores.cols(); ++j) {
        d_layer.bias->table(layer.bias->buckets.of(j - first - i), h) += d.scores(i, j);
      }
    }
  }
  const auto query = linear_backward(layer.query, cache.x, d_q);
  const auto key = linear_backward(layer.key, cache.memory, d_k);
  const auto value = linear_backward(layer.value, cache.memory, d_v);
  d_layer.query = query.layer;
  d_layer.key = key.layer;
  d_layer.value = value.layer;
  d_layer.output = output.layer;
  return {query.x, d_layer, key.x + value.x};
}

inline Gradient<LayerNorm> layer_norm_backward(const LayerNorm& layer, const LayerNormCache& cache,
                                               const Matrix& d_y) {
  const auto d = layer.rms ? scale_rows_backward(layer, cache, d_y)
                           : paper::layer_norm_backward(layer, cache, d_y);
  return {d.x, LayerNorm{d.layer}};
}

inline Gradient<FeedForward> feed_forward_backward(const FeedForward& layer,
                                                   const FeedForwardCache& cache,
                                                   const Matrix& d_y) {
  // hidden = activation(sums) ⊙ gates
  const auto second = linear_backward(layer.second, cache.hidden, d_y);
  const Matrix d_sums =
      second.x.cwiseProduct(cache.gates).cwiseProduct(cache.sums.unaryExpr(layer.slope));
  const auto first = linear_backward(layer.first, cache.x, d_sums);
  FeedForward d_layer{{first.layer, second.layer}};
  if (!layer.gate) return {first.x, d_layer};
  // gates = x · W_g
  const Matrix d_gates = second.x.cwiseProduct(cache.sums.unaryExpr(layer.activation));
  const auto gate = linear_backward(*layer.gate, cache.x, d_gates);
  d_layer.gate = gate.layer;
  return {first.x + gate.x, d_layer};
}

/// Returns the gradient at the sum of the residual stream and the block's output.
inline Matrix after_backward(const LayerNorm& norm, const LayerNormCache& cache, const Matrix& d_y,
                             LayerNorm& d_norm) {
  if (norm.pre_norm) return d_y;
  const auto d = layer_norm_backward(norm, cache, d_y);
  d_norm = d.layer;
  return d.x;
}

/// Returns the gradient at the residual stream: that of the sum, and that through the block.
inline Matrix before_backward(const LayerNorm& norm, const LayerNormCache& cache,
                              const Matrix& d_sum, const Matrix& d_block, LayerNorm& d_norm) {
  if (!norm.pre_norm) return d_sum + d_block;
  const auto d = layer_norm_backward(norm, cache, d_block);
  d_norm = d.layer;
  return d_sum + d.x;
}

inline Gradient<Layer> layer_backward(const Layer& layer, const LayerCache& c, const Matrix& d_y) {
  Gradient<Layer> g;
  Matrix d_sum = after_backward(layer.feed_norm, c.feed.after, d_y, g.layer.feed_norm);
  const auto feed = feed_forward_backward(layer.feed_forward, c.feed.block, d_sum);
  g.layer.feed_forward = feed.layer;
  g.x = before_backward(layer.feed_norm, c.feed.before, d_sum, feed.x, g.layer.feed_norm);
  if (layer.cross_attention) {
    d_sum = after_backward(layer.cross_norm, c.cross.after, g.x, g.layer.cross_norm);
    const auto cross = multi_head_backward(*layer.cross_attention, c.cross.block, d_sum);
    g.layer.cross_attention = cross.layer;
    g.memory = cross.memory;
    g.x = before_backward(layer.cross_norm, c.cross.before, d_sum, cross.x, g.layer.cross_norm);
  }
  d_sum = after_backward(layer.self_norm, c.self.after, g.x, g.layer.self_norm);
  const auto self = multi_head_backward(layer.self_attention, c.self.block, d_sum);
  g.layer.self_attention = self.layer;
  g.x = before_backward(layer.self_norm, c.self.before, d_sum, self.x + self.memory,
                        g.layer.self_norm);
  return g;
}

inline Matrix norm_if_any_backward(const std::optional<LayerNorm>& norm,
                                   const LayerNormCache& cache, const Matrix& d_y,
                                   std::optional<LayerNorm>& d_norm) {
  if (!norm) return d_y;
  const auto d = layer_norm_backward(*norm, cache, d_y);
  d_norm = d.layer;
  return d.x;
}

/// Runs the backward pass of a stack, and adds the gradient at memory to d_memory.
inline Stack stack_backward(const Stack& stack, const StackCache& cache, Tokens tokens,
                            const Matrix& d_y, Matrix& d_memory) {
  Stack gradient = stack;
  Matrix d = norm_if_any_backward(stack.final_norm, cache.final_norm, d_y, gradient.final_norm);
  for (std::size_t i = stack.layers.size(); i-- > 0;) {
    const auto layer = layer_backward(stack.layers[i], cache.layers[i], d);
    gradient.layers[i] = layer.layer;
    d = layer.x;
    if (stack.layers[i].cross_attention) d_memory += layer.memory;
  }
  d = norm_if_any_backward(stack.embedding_norm, cache.embedding_norm, d, gradient.embedding_norm);
  gradient.embedding = embedding_backward(stack.embedding, tokens, d);
  return gradient;
}

inline std::pair<double, Transformer> loss_and_gradient(const Transformer& model, Tokens source,
                                                        Tokens target, Tokens labels) {
  const TransformerCache cache = run(model, source, target);
  const auto [loss, d_logits] = cross_entropy(cache.logits, labels);
  const auto output =
      linear_backward(model.output, cache.decoder.output() * model.output_scale, d_logits);
  const Matrix& memory = cache.encoder.output();
  Matrix d_memory = Matrix::Zero(memory.rows(), memory.cols()), none;
  Transformer gradient;
  gradient.output = output.layer;
  gradient.decoder =
      stack_backward(model.decoder, cache.decoder, target, output.x * model.output_scale, d_memory);
  gradient.encoder = stack_backward(model.encoder, cache.encoder, source, d_memory, none);
  return {loss, gradient};
}

}  // namespace attn::paper::variants
