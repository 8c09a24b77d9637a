// The way back: from the loss to the gradient of every parameter.
//
// Each function stands for one of the forward pass. It gets what that one got and d_y, the loss's
// gradient at what that one returned; it returns the gradient at its input, and adds those of its
// parameters to a layer of the same shape. Nothing was kept: it computes again what it needs.
// "Was:" is the line of the forward pass that the derivative below it belongs to.
#pragma once

#include <array>

#include "paper/transformer.h"

namespace attn::paper {

/// A layer, and where its parameters' gradients are added up: empty matrices at first.
template <typename Layer>
struct Trained {
  const Layer& layer;
  Layer& gradient;
};

/// to += what; the first time, to = what.
template <typename To, typename What>
void add_to(To& to, const What& what) {
  if (to.size() == 0) to.setZero(what.rows(), what.cols());
  to += what;
}

template <typename T>
Matrix<T> linear_backward(Trained<Linear<T>> linear, const Matrix<T>& x, const Matrix<T>& d_y) {
  // Was: y = x · W + b.
  add_to(linear.gradient.weight, Matrix<T>(x.transpose() * d_y));  // [in, out]
  if (linear.layer.bias.size() > 0) add_to(linear.gradient.bias, Row<T>(d_y.colwise().sum()));
  return d_y * linear.layer.weight.transpose();  // [L, in]
}

/// p [L, S] what softmax returned, d_p [L, S] → [L, S]. Where p is 0, behind a mask, so is this.
template <typename T>
Matrix<T> softmax_backward(const Matrix<T>& p, const Matrix<T>& d_p) {
  // Was: pⱼ = exp(xⱼ) / Σₖ exp(xₖ), so that ∂pⱼ/∂xₖ = pⱼ · (1[j = k] − pₖ).
  const Eigen::Matrix<T, Eigen::Dynamic, 1> mean = p.cwiseProduct(d_p).rowwise().sum();  // [L]
  return p.cwiseProduct(Matrix<T>(d_p.colwise() - mean));                                // [L, S]
}

/// What attention() is given, or the gradients at it.
template <typename T>
struct QueriesKeysValues {
  Matrix<T> q;            ///< [L, K]
  Matrix<T> k;            ///< [S, K]
  Matrix<T> v;            ///< [S, K]
  Matrix<T> scores = {};  ///< [L, S] of gradients alone: at q · kᵀ · scale + mask
};

template <typename T>
QueriesKeysValues<T> attention_backward(const QueriesKeysValues<T>& was, T scale,
                                        const Matrix<T>& mask, const Matrix<T>& d_y) {
  const Matrix<T> p = attention_weights<T>(was.q, was.k, scale, mask);  // [L, S]
  // Was: y = p · V.
  const Matrix<T> d_v = p.transpose() * d_y;      // [S, K]
  const Matrix<T> d_p = d_y * was.v.transpose();  // [L, S]
  // Was: p = softmax(scores + mask). The mask is a constant.
  const Matrix<T> d_scores = softmax_backward<T>(p, d_p);  // [L, S]
  // Was: scores = Q · Kᵀ · scale.
  return {d_scores * was.k * scale, d_scores.transpose() * was.q * scale, d_v, d_scores};
}

/// d_scores [L, S] of head h. Was: scores(i, j) += table(bucket of j − i, h).
template <typename T>
void relative_backward(Trained<RelativeBias<T>> bias, Index h, const Matrix<T>& d_scores) {
  const auto& [layer, gradient] = bias;
  if (layer.table.size() == 0) return;
  if (gradient.table.size() == 0) gradient.table.setZero(layer.table.rows(), layer.table.cols());
  const Index first = d_scores.cols() - d_scores.rows();
  for (Index i = 0; i < d_scores.rows(); ++i) {
    for (Index j = 0; j < d_scores.cols(); ++j) {
      gradient.table(layer.buckets.of(j - first - i), h) += d_scores(i, j);
    }
  }
}

/// Returns the gradients at x [L, D] and at memory [S, D]. In self-attention these are the same
/// rows, and the gradient at them is the sum.
template <typename T>
std::array<Matrix<T>, 2> multi_head_backward(Trained<MultiHead<T>> of, const Matrix<T>& x,
                                             const Matrix<T>& memory, const Matrix<T>& mask,
                                             const Matrix<T>& d_y) {
  const auto& [layer, gradient] = of;
  const Matrix<T> q = layer.query(x), k = layer.key(memory), v = layer.value(memory);
  const Index head_dim = q.cols() / layer.heads;
  Matrix<T> heads(q.rows(), q.cols());                                    // [L, D]
  const Matrix<T> d_heads = d_y * layer.output.weight.transpose();        // [L, D]
  Matrix<T> d_q(q.rows(), q.cols()), d_k(k.rows(), k.cols()), d_v = d_k;  // as q, k and v
  for (Index h = 0; h < layer.heads; ++h) {
    const auto own = Eigen::seqN(h * head_dim, head_dim);
    // Was: head h of q, k and v → head h of `heads`.
    const QueriesKeysValues<T> was{q(Eigen::all, own), k(Eigen::all, own), v(Eigen::all, own)};
    const Matrix<T> added = layer.relative.with(mask, h);
    heads(Eigen::all, own) = attention<T>(was.q, was.k, was.v, layer.scale, added);
    const QueriesKeysValues<T> d =
        attention_backward<T>(was, layer.scale, added, d_heads(Eigen::all, own));
    relative_backward<T>({layer.relative, gradient.relative}, h, d.scores);
    d_q(Eigen::all, own) = d.q;  // [L, K]
    d_k(Eigen::all, own) = d.k;  // [S, K]
    d_v(Eigen::all, own) = d.v;  // [S, K]
  }
  // Was: y = heads · W^O + b.
  linear_backward<T>({layer.output, gradient.output}, heads, d_y);
  // Was: q = x · W^Q + b, k = memory · W^K + b, v = memory · W^V + b.
  return {linear_backward<T>({layer.query, gradient.query}, x, d_q),
          linear_backward<T>({layer.key, gradient.key}, memory, d_k) +
              linear_backward<T>({layer.value, gradient.value}, memory, d_v)};
}

template <typename T>
Matrix<T> norm_backward(Trained<LayerNorm<T>> norm, const Matrix<T>& x, const Matrix<T>& d_y) {
  if (norm.layer.weight.size() == 0) return d_y;
  const Matrix<T> unit = norm.layer.normalized(x);  // [L, D]
  // Was: y = x̂ ⊙ weight + bias.
  add_to(norm.gradient.weight, Row<T>(d_y.cwiseProduct(unit).colwise().sum()));  // [D]
  if (!norm.layer.rms) add_to(norm.gradient.bias, Row<T>(d_y.colwise().sum()));  // [D]
  Matrix<T> d_x = d_y.array().rowwise() * norm.layer.weight.array();             // [L, D] at x̂
  // Was: x̂ = (x − mean) / √(variance + ε). Mean and variance move with x: what a step would only
  // shift or stretch is taken out.
  for (Index t = 0; t < x.rows(); ++t) {
    const T mean = norm.layer.rms ? T(0) : x.row(t).mean();
    const auto centered = x.row(t).array() - mean;  // [D]
    const T deviation = std::sqrt(centered.square().mean() + norm.layer.epsilon);
    const T shift = norm.layer.rms ? T(0) : d_x.row(t).mean();
    const T stretch = d_x.row(t).dot(unit.row(t)) / static_cast<T>(x.cols());
    d_x.row(t) = (d_x.row(t).array() - shift - unit.row(t).array() * stretch) / deviation;
  }
  return d_x;
}

/// The slope of activate() at x.
template <typename T>
T activation_slope(Activation activation, T x) {
  if (activation == Activation::relu) return x > 0 ? T(1) : T(0);
  if (activation == Activation::swish) {
    const T s = 1 / (1 + std::exp(-x));
    return s * (1 + x * (1 - s));
  }
  if (activation == Activation::gelu_new) {
    const T root = std::sqrt(T(2 / M_PI));
    const T bent = std::tanh(root * (x + T(0.044715) * x * x * x));
    return (1 + bent) / 2 + x / 2 * (1 - bent * bent) * root * (1 + 3 * T(0.044715) * x * x);
  }
  // gelu: Φ(x) + x · φ(x)
  return std::erfc(-x / std::sqrt(T(2))) / 2 + x * std::exp(-x * x / 2) / std::sqrt(T(2 * M_PI));
}

template <typename T>
Matrix<T> feed_forward_backward(Trained<FeedForward<T>> of, const Matrix<T>& x,
                                const Matrix<T>& d_y) {
  const auto& [layer, gradient] = of;
  // Was: y = hidden · W₂ + b₂.
  Matrix<T> d_sums = linear_backward<T>({layer.second, gradient.second}, layer.hidden(x), d_y);
  // Was: hidden = activation(sums) ⊙ gates, gates = x · W_g. Or without gates.
  const bool gated = layer.gate.weight.size() > 0;
  Matrix<T> d_x = Matrix<T>::Zero(x.rows(), x.cols());  // [L, D] by way of the gates
  if (gated) {
    const Matrix<T> open = layer.first(x).unaryExpr(  // [L, F]
        [&](T sum) { return activate(of.layer.activation, sum); });
    d_x = linear_backward<T>({layer.gate, gradient.gate}, x, d_sums.cwiseProduct(open));
    d_sums = d_sums.cwiseProduct(layer.gate(x));
  }
  d_sums = d_sums.cwiseProduct(layer.first(x).unaryExpr(  // [L, F]
      [&](T sum) { return activation_slope(of.layer.activation, sum); }));
  // Was: sums = x · W₁ + b₁.
  return d_x + linear_backward<T>({layer.first, gradient.first}, x, d_sums);
}

/// forward: what residual() was given. backward(x, d_y): the way back through it.
template <typename Forward, typename Backward>
struct Block {
  Forward forward;
  Backward backward;
};
template <typename Forward, typename Backward>
Block(Forward, Backward) -> Block<Forward, Backward>;

template <typename T, typename OneBlock>
Matrix<T> residual_backward(Trained<LayerNorm<T>> norm, NormPlace place, const Matrix<T>& x,
                            const OneBlock& block, const Matrix<T>& d_y) {
  // Was: y = x + block(norm(x)). A sum hands its gradient to both sides.
  if (place == NormPlace::before) {
    return d_y + norm_backward<T>(norm, x, block.backward(norm.layer(x), d_y));
  }
  // Was: y = norm(x + block(x)).
  const Matrix<T> d_sum = norm_backward<T>(norm, x + block.forward(x), d_y);  // [L, D]
  return d_sum + block.backward(x, d_sum);
}

/// Attention of rows to themselves, as a block.
template <typename T>
auto self_block(Trained<MultiHead<T>> of, const Matrix<T>& mask) {
  return Block{
      [=, &mask](const Matrix<T>& y) { return multi_head<T>(of.layer, y, y, mask, nullptr); },
      [=, &mask](const Matrix<T>& y, const Matrix<T>& d) -> Matrix<T> {
        const auto [asked, answered] = multi_head_backward<T>(of, y, y, mask, d);
        return asked + answered;
      }};
}

/// Attention to the encoder's rows, as a block; the gradient at those is added to d_memory.
template <typename T>
auto cross_block(Trained<MultiHead<T>> of, const Matrix<T>& memory, const Matrix<T>& mask,
                 Matrix<T>& d_memory) {
  return Block{[=, &memory, &mask](const Matrix<T>& y) {
                 return multi_head<T>(of.layer, y, memory, mask, nullptr);
               },
               [=, &memory, &mask, &d_memory](const Matrix<T>& y, const Matrix<T>& d) {
                 const auto [asked, answered] = multi_head_backward<T>(of, y, memory, mask, d);
                 d_memory += answered;
                 return asked;
               }};
}

template <typename T>
auto feed_forward_block(Trained<FeedForward<T>> of) {
  return Block{
      [=](const Matrix<T>& y) { return of.layer(y); },
      [=](const Matrix<T>& y, const Matrix<T>& d) { return feed_forward_backward<T>(of, y, d); }};
}

template <typename T>
Matrix<T> encoder_layer_backward(Trained<EncoderLayer<T>> of, const Matrix<T>& x,
                                 const Matrix<T>& d_y) {
  const auto& [layer, gradient] = of;
  const Matrix<T> mask = no_mask<T>(x.rows(), x.rows());
  const auto self = self_block<T>({layer.self_attention, gradient.self_attention}, mask);
  const auto feed = feed_forward_block<T>({layer.feed_forward, gradient.feed_forward});
  // Was: seen = residual(self-attention of x); y = residual(feed-forward of seen).
  const Matrix<T> seen = residual<T>(layer.self_norm, layer.place, x, self.forward);
  const Matrix<T> d_seen =
      residual_backward<T>({layer.feed_norm, gradient.feed_norm}, layer.place, seen, feed, d_y);
  return residual_backward<T>({layer.self_norm, gradient.self_norm}, layer.place, x, self, d_seen);
}

template <typename T>
Matrix<T> decoder_layer_backward(Trained<DecoderLayer<T>> of, const Matrix<T>& x,
                                 const Matrix<T>& memory, const Matrix<T>& d_y,
                                 Matrix<T>& d_memory) {
  const auto& [layer, gradient] = of;
  const Matrix<T> self_mask = causal_mask<T>(x.rows(), x.rows());
  const Matrix<T> cross_mask = no_mask<T>(x.rows(), memory.rows());
  const auto self = self_block<T>({layer.self_attention, gradient.self_attention}, self_mask);
  const auto cross = cross_block<T>({layer.cross_attention, gradient.cross_attention}, memory,
                                    cross_mask, d_memory);
  const auto feed = feed_forward_block<T>({layer.feed_forward, gradient.feed_forward});
  // Was: own = residual(self-attention of x); seen = residual(cross-attention of own);
  //      y = residual(feed-forward of seen).
  const Matrix<T> own = residual<T>(layer.self_norm, layer.place, x, self.forward);
  const Matrix<T> seen = residual<T>(layer.cross_norm, layer.place, own, cross.forward);
  const Matrix<T> d_seen =
      residual_backward<T>({layer.feed_norm, gradient.feed_norm}, layer.place, seen, feed, d_y);
  const Matrix<T> d_own = residual_backward<T>({layer.cross_norm, gradient.cross_norm}, layer.place,
                                               own, cross, d_seen);
  return residual_backward<T>({layer.self_norm, gradient.self_norm}, layer.place, x, self, d_own);
}

/// d_x [L, D] at what embed() returned.
template <typename T, typename Layer>
void embed_backward(Trained<Stack<T, Layer>> of, std::span<const int> tokens,
                    const Matrix<T>& d_x) {
  const auto& [stack, gradient] = of;
  Stack<T, Layer> bare = {stack.embedding, stack.positions, stack.scale, {}, {}, {}};
  // Was: x = norm(embedded).
  const Matrix<T> d = norm_backward<T>({stack.embedding_norm, gradient.embedding_norm},
                                       embed(bare, tokens), d_x);  // [L, D]
  // Was: row = the word's embedding · scale + its place's row. A word may occur twice.
  gradient.embedding.setZero(stack.embedding.rows(), stack.embedding.cols());
  gradient.positions.setZero(stack.positions.rows(), stack.positions.cols());
  for (Index t = 0; t < d.rows(); ++t) {
    gradient.embedding.row(tokens[static_cast<std::size_t>(t)]) += d.row(t) * stack.scale;
    if (stack.positions.size() > 0) gradient.positions.row(t) += d.row(t);
  }
}

/// The loss −Σ ln p(label) of a decoder that reads `target` and should write `labels`, as many, and
/// its gradient at all parameters. `gradient` is empty at first. Where embeddings and output are
/// tied, the gradient at their one matrix is the sum of theirs.
template <typename T>
T loss_and_gradient(const Transformer<T>& model, std::span<const int> source,
                    std::span<const int> target, std::span<const int> labels,
                    Transformer<T>& gradient) {
  const auto& [encoder, decoder, output, bias, scale] = model;
  auto& [d_encoder, d_decoder, d_output, d_bias, unused] = gradient;
  // encode() and decode() again, keeping what every layer read.
  std::vector<Matrix<T>> below{embed(encoder, source)};  // [S, D] each
  for (const auto& layer : encoder.layers) {
    below.push_back(encoder_layer<T>(layer, below.back(), nullptr));
  }
  const Matrix<T> memory = encoder.final_norm(below.back());  // [S, D]
  std::vector<Matrix<T>> above{embed(decoder, target)};       // [L, D] each
  for (const auto& layer : decoder.layers) {
    above.push_back(decoder_layer<T>(layer, above.back(), memory, nullptr));
  }
  const Matrix<T> rows = decoder.final_norm(above.back());      // [L, D]
  const Matrix<T> log_p = log_softmax<T>(logits(model, rows));  // [L, V]
  // Was: loss = −Σ ln p(label), p = softmax(logits): the gradient is what p has too much.
  T loss = 0;
  Matrix<T> d_logits = log_p.array().exp();  // [L, V]
  for (Index t = 0; t < log_p.rows(); ++t) {
    const int label = labels[static_cast<std::size_t>(t)];
    loss -= log_p(t, label);
    d_logits(t, label) -= 1;
  }
  // Was: logits = rows · scale · outputᵀ + bias.
  d_output = d_logits.transpose() * rows * scale;  // [V, D]
  d_bias = d_logits.colwise().sum();               // [V]
  Matrix<T> d_x = d_logits * output * scale;       // [L, D]
  // Was: the decoder, every layer of which looked at the encoder's rows.
  d_x = norm_backward<T>({decoder.final_norm, d_decoder.final_norm}, above.back(), d_x);
  Matrix<T> d_memory = Matrix<T>::Zero(memory.rows(), memory.cols());  // [S, D]
  d_decoder.layers.resize(decoder.layers.size());
  for (std::size_t i = decoder.layers.size(); i-- > 0;) {
    d_x = decoder_layer_backward<T>({decoder.layers[i], d_decoder.layers[i]}, above[i], memory, d_x,
                                    d_memory);
  }
  embed_backward<T, DecoderLayer<T>>({decoder, d_decoder}, target, d_x);
  // Was: the encoder.
  d_x = norm_backward<T>({encoder.final_norm, d_encoder.final_norm}, below.back(), d_memory);
  d_encoder.layers.resize(encoder.layers.size());
  for (std::size_t i = encoder.layers.size(); i-- > 0;) {
    d_x = encoder_layer_backward<T>({encoder.layers[i], d_encoder.layers[i]}, below[i], d_x);
  }
  embed_backward<T, EncoderLayer<T>>({encoder, d_encoder}, source, d_x);
  return loss;
}

}  // namespace attn::paper
