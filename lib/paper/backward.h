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
    const QueriesKeysValues<T> was{layer.placed(q(Eigen::all, own)),
                                   layer.placed(k(Eigen::all, own)), v(Eigen::all, own)};
    const Matrix<T> added = layer.relative.with(mask, h);
    heads(Eigen::all, own) = attention<T>(was.q, was.k, was.v, layer.scale, added);
    const QueriesKeysValues<T> d =
        attention_backward<T>(was, layer.scale, added, d_heads(Eigen::all, own));
    relative_backward<T>({layer.relative, gradient.relative}, h, d.scores);
    d_q(Eigen::all, own) = layer.placed(d.q, -1);  // [L, K]
    d_k(Eigen::all, own) = layer.placed(d.k, -1);  // [S, K]
    d_v(Eigen::all, own) = d.v;                    // [S, K]
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
    const Matrix<T> open = layer.first(x).unaryExpr(layer.activation.value);  // [L, F]
    d_x = linear_backward<T>({layer.gate, gradient.gate}, x, d_sums.cwiseProduct(open));
    d_sums = d_sums.cwiseProduct(layer.gate(x));
  }
  d_sums = d_sums.cwiseProduct(layer.first(x).unaryExpr(layer.activation.slope));  // [L, F]
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

/// Attention of rows to `memory`, at which the gradient is added to d_memory; or, without one, to
/// themselves.
template <typename T>
auto attention_block(Trained<MultiHead<T>> of, const Matrix<T>& mask, const Matrix<T>* memory,
                     Matrix<T>* d_memory) {
  return Block{[=, &mask](const Matrix<T>& y) {
                 return multi_head<T>(of.layer, y, memory ? *memory : y, mask, nullptr);
               },
               [=, &mask](const Matrix<T>& y, const Matrix<T>& d) -> Matrix<T> {
                 const auto [asked, answered] =
                     multi_head_backward<T>(of, y, memory ? *memory : y, mask, d);
                 if (memory == nullptr) return asked + answered;
                 *d_memory += answered;
                 return asked;
               }};
}

/// Of a decoder's layer, which looked at the encoder's rows `memory`: the gradient at those is
/// added to d_memory. Of an encoder's both are null.
template <typename T>
Matrix<T> layer_backward(Trained<Layer<T>> of, const Matrix<T>& x, const Matrix<T>& d_y,
                         const Matrix<T>* memory, Matrix<T>* d_memory) {
  const auto& [layer, gradient] = of;
  const Index rows = x.rows();
  const Matrix<T> self_mask = memory ? causal_mask<T>(rows, rows) : no_mask<T>(rows, rows);
  const Matrix<T> cross_mask = no_mask<T>(rows, memory ? memory->rows() : 0);
  const auto self = attention_block<T>({layer.self_attention, gradient.self_attention}, self_mask,
                                       nullptr, nullptr);
  const auto cross = attention_block<T>({layer.cross_attention, gradient.cross_attention},
                                        cross_mask, memory, d_memory);
  const Trained<FeedForward<T>> own_feed{layer.feed_forward, gradient.feed_forward};
  const Block feed{layer.feed_forward, [=](const Matrix<T>& y, const Matrix<T>& d) {
                     return feed_forward_backward<T>(own_feed, y, d);
                   }};
  // Was: own = residual(self-attention of x), in a decoder seen = residual(cross-attention of own),
  //      y = residual(feed-forward of seen).
  const Matrix<T> own = residual<T>(layer.self_norm, layer.place, x, self.forward);
  const Matrix<T> seen =
      memory ? residual<T>(layer.cross_norm, layer.place, own, cross.forward) : own;
  Matrix<T> d =
      residual_backward<T>({layer.feed_norm, gradient.feed_norm}, layer.place, seen, feed, d_y);
  if (memory != nullptr) {
    d = residual_backward<T>({layer.cross_norm, gradient.cross_norm}, layer.place, own, cross, d);
  }
  return residual_backward<T>({layer.self_norm, gradient.self_norm}, layer.place, x, self, d);
}

/// d [L, D] at what encode() or decode() returned; memory and d_memory as in layer_backward().
template <typename T>
void stack_backward(Trained<Stack<T>> of, std::span<const int> tokens, Matrix<T> d,
                    const Matrix<T>* memory, Matrix<T>* d_memory) {
  const auto& [stack, gradient] = of;
  // The forward pass again, this time with what every layer read.
  std::vector<Matrix<T>> read{embed(stack, tokens)};  // [L, D] each
  for (const Layer<T>& layer : stack.layers) {
    read.push_back(run_layer<T>(layer, read.back(), memory, nullptr));
  }
  // Was: what the last layer wrote, and a norm in pre-norm models.
  d = norm_backward<T>({stack.final_norm, gradient.final_norm}, read.back(), d);
  gradient.layers.resize(stack.layers.size());
  for (std::size_t i = stack.layers.size(); i-- > 0;) {
    d = layer_backward<T>({stack.layers[i], gradient.layers[i]}, read[i], d, memory, d_memory);
  }
  // Was: x = norm(embedded).
  const Stack<T> bare = {stack.embedding, stack.positions, stack.scale, {}, {}, {}};
  d = norm_backward<T>({stack.embedding_norm, gradient.embedding_norm}, embed(bare, tokens), d);
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
  const Matrix<T> memory = encode<T>(model, source, nullptr);        // [S, D]
  const Matrix<T> rows = decode<T>(model, target, memory, nullptr);  // [L, D]
  const Matrix<T> log_p = log_softmax<T>(logits(model, rows));       // [L, V]
  // Was: loss = −Σ ln p(label), p = softmax(logits): the gradient is what p has too much.
  T loss = 0;
  Matrix<T> d_logits = log_p.array().exp();  // [L, V]
  for (Index t = 0; t < log_p.rows(); ++t) {
    const int label = labels[static_cast<std::size_t>(t)];
    loss -= log_p(t, label);
    d_logits(t, label) -= 1;
  }
  // Was: logits = rows · scale · outputᵀ + bias.
  gradient.output = d_logits.transpose() * rows * model.output_scale;     // [V, D]
  gradient.logits_bias = d_logits.colwise().sum();                        // [V]
  const Matrix<T> d_rows = d_logits * model.output * model.output_scale;  // [L, D]
  Matrix<T> d_memory = Matrix<T>::Zero(memory.rows(), memory.cols());     // [S, D]
  // Was: the decoder, every layer of which looked at the encoder's rows.
  stack_backward<T>({model.decoder, gradient.decoder}, target, d_rows, &memory, &d_memory);
  stack_backward<T>({model.encoder, gradient.encoder}, source, d_memory, nullptr, nullptr);
  return loss;
}

}  // namespace attn::paper
