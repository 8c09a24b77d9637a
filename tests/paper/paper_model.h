// A model's parameters as lib/paper has them: the bridge between what is fast and what is read.
#pragma once

#include "model/layers.h"
#include "model/transformer.h"
#include "paper/transformer.h"

namespace attn::test {

template <typename T>
paper::Matrix<T> paper_matrix(const Parameter& p) {
  paper::Matrix<T> m(p.rows, p.columns);
  for (Index i = 0; i < p.rows; ++i) {
    for (Index j = 0; j < p.columns; ++j) m(i, j) = static_cast<T>(p.at(i, j));
  }
  return m;
}

/// Empty where the model has no such parameter.
template <typename T>
paper::Row<T> paper_row(const Parameter& p) {
  if (!p.exists()) return {};
  return paper_matrix<T>(p).row(0);
}

template <typename T>
paper::Linear<T> paper_linear(const Linear& from) {
  paper::Linear<T> to{paper_matrix<T>(from.weight), paper_row<T>(from.bias)};
  if (to.bias.size() == 0) to.bias.setZero(to.weight.cols());
  return to;
}

/// A linear layer of keys or values that heads share, with a copy for each head.
template <typename T>
paper::Linear<T> paper_memory(const Linear& from, const AttentionShape& shape) {
  const paper::Linear<T> shared = paper_linear<T>(from);
  paper::Linear<T> to{paper::Matrix<T>(shared.weight.rows(), shape.inner()),
                      paper::Row<T>(shape.inner())};
  for (Index head = 0; head < shape.heads; ++head) {
    const auto own = Eigen::seqN(head * shape.head_dim, shape.head_dim);
    const auto read = Eigen::seqN(shape.key_column(head), shape.head_dim);
    to.weight(Eigen::all, own) = shared.weight(Eigen::all, read);
    to.bias(own) = shared.bias(read);
  }
  return to;
}

template <typename T>
paper::LayerNorm<T> paper_norm(const LayerNorm& from) {
  return {paper_row<T>(from.weight), paper_row<T>(from.bias), from.kind == NormType::rms,
          static_cast<T>(from.epsilon)};
}

/// gelu(x) = x · Φ(x) (Hendrycks and Gimpel 2016); gelu_new is their formula without erf.
template <typename T>
paper::Activation<T> paper_activation(Activation activation) {
  if (activation == Activation::relu) return {};
  if (activation == Activation::swish) return paper::Activation<T>::swish();
  if (activation == Activation::gelu) {
    return {[](T x) { return x * std::erfc(-x / std::sqrt(T(2))) / 2; },
            [](T x) {
              return std::erfc(-x / std::sqrt(T(2))) / 2 +
                     x * std::exp(-x * x / 2) / std::sqrt(T(2 * M_PI));
            }};
  }
  static constexpr auto bent = [](T x) {
    return std::tanh(std::sqrt(T(2 / M_PI)) * (x + T(0.044715) * x * x * x));
  };
  return {[](T x) { return x / 2 * (1 + bent(x)); },
          [](T x) {
            const T inner = std::sqrt(T(2 / M_PI)) * (1 + 3 * T(0.044715) * x * x);
            return (1 + bent(x)) / 2 + x / 2 * (1 - bent(x) * bent(x)) * inner;
          }};
}

template <typename T>
paper::FeedForward<T> paper_feed_forward(const FeedForward& from) {
  paper::FeedForward<T> to{paper_linear<T>(from.first), paper_linear<T>(from.second),
                           paper_activation<T>(from.activation)};
  if (from.gated()) to.gate = paper_linear<T>(from.gate);
  return to;
}

template <typename T>
paper::MultiHead<T> paper_multi_head(const ModelConfig& config, AttentionSite kind,
                                     const MultiHeadAttention& from,
                                     const Parameter& relative_bias = {}) {
  const AttentionShape shape = attention_shape(config, kind, 0);
  paper::RelativeBias<T> relative;
  if (relative_bias.exists()) {
    relative = {paper_matrix<T>(relative_bias),
                {config.relative.buckets, config.relative.max_distance,
                 kind == AttentionSite::decoder_self}};
  }
  const T scale = config.scale_attention ? 1 / std::sqrt(static_cast<T>(shape.head_dim)) : T(1);
  return {paper_linear<T>(from.query),
          paper_memory<T>(from.key, shape),
          paper_memory<T>(from.value, shape),
          paper_linear<T>(from.output),
          shape.heads,
          scale,
          relative,
          config.rotary && kind != AttentionSite::cross};
}

template <typename T>
void fill_ends(const ModelConfig& config, const StackParameters& from, paper::Stack<T>& to) {
  to.embedding = paper_matrix<T>(from.embedding);
  if (config.absolute_positions) {
    to.positions = paper_matrix<T>(position_rows(config, from.positions));
  }
  to.scale = config.scale_embedding ? std::sqrt(static_cast<T>(config.d_model)) : T(1);
  if (config.normalize_embedding) to.embedding_norm = paper_norm<T>(from.embedding_norm);
  if (config.add_final_layer_norm) to.final_norm = paper_norm<T>(from.final_norm);
}

/// Also of a model's gradients, which lie in the same structures.
template <typename T>
paper::Transformer<T> paper_model(const ModelConfig& c, const ModelParameters& from) {
  const auto place = c.normalize_before ? paper::NormPlace::before : paper::NormPlace::behind;
  paper::Transformer<T> to;
  fill_ends(c, from.encoder, to.encoder);
  fill_ends(c, from.decoder, to.decoder);
  using enum AttentionSite;
  for (const EncoderLayer& layer : from.encoder_layers) {
    to.encoder.layers.push_back(
        {paper_multi_head<T>(c, encoder_self, layer.self_attention,
                             relative_bias_of(from.encoder, layer.self_attention)),
         paper_norm<T>(layer.self_attention_norm),
         {},
         {},
         paper_feed_forward<T>(layer.feed_forward),
         paper_norm<T>(layer.feed_forward_norm),
         place});
  }
  for (const DecoderLayer& layer : from.decoder_layers) {
    to.decoder.layers.push_back(
        {paper_multi_head<T>(c, decoder_self, layer.self_attention,
                             relative_bias_of(from.decoder, layer.self_attention)),
         paper_norm<T>(layer.self_attention_norm),
         paper_multi_head<T>(c, cross, layer.cross_attention),
         paper_norm<T>(layer.cross_attention_norm), paper_feed_forward<T>(layer.feed_forward),
         paper_norm<T>(layer.feed_forward_norm), place});
  }
  to.output = paper_matrix<T>(from.output);
  to.logits_bias = paper_row<T>(from.logits_bias);
  if (c.scale_output) to.output_scale = 1 / std::sqrt(static_cast<T>(c.d_model));
  return to;
}

template <typename T>
paper::Transformer<T> paper_model(const Transformer& model) {
  return paper_model<T>(model.config(), model.parameters());
}

}  // namespace attn::test
