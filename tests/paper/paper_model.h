// Converts a model's parameters to those of lib/paper, from the fast code to the readable one.
#pragma once

#include "model/layers.h"
#include "model/transformer.h"
#include "variant_model.h"

namespace attn::test {

namespace variants = paper::variants;

inline paper::Matrix paper_matrix(const Parameter& p) {
  paper::Matrix m(p.rows, p.columns);
  for (Index i = 0; i < p.rows; ++i) {
    for (Index j = 0; j < p.columns; ++j) m(i, j) = static_cast<double>(p.at(i, j));
  }
  return m;
}

/// Returns [columns], 0 if the model has no such parameter.
inline paper::Row paper_row(const Parameter& p, Index columns) {
  if (!p.exists()) return paper::Row::Zero(columns);
  return paper_matrix(p).row(0);
}

inline paper::Linear paper_linear(const Linear& from) {
  const paper::Matrix weight = paper_matrix(from.weight);
  return {weight, paper_row(from.bias, weight.cols())};
}

inline variants::LayerNorm paper_norm(const ModelConfig& config, const LayerNorm& from) {
  const paper::Row weight = paper_matrix(from.weight).row(0);
  return {{weight, paper_row(from.bias, weight.cols()), static_cast<double>(from.epsilon)},
          from.kind == NormType::rms,
          config.normalize_before};
}

/// Returns gelu(x) = x · Φ(x) (Hendrycks and Gimpel 2016); gelu_new is their formula without erf.
inline double gelu(double x) {
  return x * std::erfc(-x / std::sqrt(2.0)) / 2;
}
inline double gelu_slope(double x) {
  return std::erfc(-x / std::sqrt(2.0)) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}
inline double gelu_tanh(double x) {
  return std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
}
inline double gelu_new(double x) {
  return x / 2 * (1 + gelu_tanh(x));
}
inline double gelu_new_slope(double x) {
  const double inner = std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
  return (1 + gelu_tanh(x)) / 2 + x / 2 * (1 - gelu_tanh(x) * gelu_tanh(x)) * inner;
}

inline void set_activation(paper::FeedForward& layer, Activation activation) {
  if (activation == Activation::swish) {
    layer.activation = variants::swish, layer.slope = variants::swish_slope;
  } else if (activation == Activation::gelu) {
    layer.activation = gelu, layer.slope = gelu_slope;
  } else if (activation == Activation::gelu_new) {
    layer.activation = gelu_new, layer.slope = gelu_new_slope;
  }
}

inline variants::FeedForward paper_feed_forward(const FeedForward& from) {
  variants::FeedForward to{{paper_linear(from.first), paper_linear(from.second)}};
  set_activation(to, from.activation);
  if (from.gated()) to.gate = paper_linear(from.gate);
  return to;
}

inline variants::MultiHead paper_multi_head(const ModelConfig& config, AttentionSite kind,
                                            const MultiHeadAttention& from,
                                            const Parameter& relative_bias = {}) {
  const AttentionShape shape = attention_shape(config, kind, 0);
  variants::MultiHead to{{paper_linear(from.query), paper_linear(from.key),
                          paper_linear(from.value), paper_linear(from.output), shape.heads}};
  if (config.scale_attention) to.scale = 1 / std::sqrt(static_cast<double>(shape.head_dim));
  if (relative_bias.exists()) {
    to.bias = {paper_matrix(relative_bias),
               {config.relative.buckets, config.relative.max_distance,
                kind == AttentionSite::decoder_self}};
  }
  to.rotary = config.rotary && kind != AttentionSite::cross;
  to.queries_per_kv_head = shape.queries_per_kv_head;
  return to;
}

inline void fill_ends(const ModelConfig& config, const StackParameters& from, variants::Stack& to) {
  constexpr Index kLongest = 512;  // maximum tokens of a test sentence
  to.embedding.tokens = paper_matrix(from.embedding);
  to.embedding.positions = config.absolute_positions
                               ? paper_matrix(position_rows(config, from.positions))
                               : paper::Matrix::Zero(kLongest, config.d_model);
  if (config.scale_embedding) to.embedding.scale = std::sqrt(static_cast<double>(config.d_model));
  if (config.normalize_embedding) to.embedding_norm = paper_norm(config, from.embedding_norm);
  if (config.add_final_layer_norm) to.final_norm = paper_norm(config, from.final_norm);
}

/// Also takes a model's gradients, which are in the same structures.
inline variants::Transformer variant_model(const ModelConfig& c, const ModelParameters& from) {
  variants::Transformer to;
  fill_ends(c, from.encoder, to.encoder);
  fill_ends(c, from.decoder, to.decoder);
  using enum AttentionSite;
  for (const EncoderLayer& layer : from.encoder_layers) {
    to.encoder.layers.push_back(
        {.self_attention = paper_multi_head(c, encoder_self, layer.self_attention,
                                            relative_bias_of(from.encoder, layer.self_attention)),
         .self_norm = paper_norm(c, layer.self_attention_norm),
         .feed_forward = paper_feed_forward(layer.feed_forward),
         .feed_norm = paper_norm(c, layer.feed_forward_norm)});
  }
  for (const DecoderLayer& layer : from.decoder_layers) {
    to.decoder.layers.push_back(
        {.self_attention = paper_multi_head(c, decoder_self, layer.self_attention,
                                            relative_bias_of(from.decoder, layer.self_attention)),
         .self_norm = paper_norm(c, layer.self_attention_norm),
         .cross_attention = paper_multi_head(c, cross, layer.cross_attention),
         .cross_norm = paper_norm(c, layer.cross_attention_norm),
         .feed_forward = paper_feed_forward(layer.feed_forward),
         .feed_norm = paper_norm(c, layer.feed_forward_norm)});
  }
  to.output = {paper_matrix(from.output).transpose(),
               paper_row(from.logits_bias, from.output.rows)};
  if (c.scale_output) to.output_scale = 1 / std::sqrt(static_cast<double>(c.d_model));
  return to;
}

inline variants::Transformer variant_model(const Transformer& model) {
  return variant_model(model.config(), model.parameters());
}

/// True if a model only has parts of the paper's: post-norm, sinusoids or learned positions, and
/// no variant except its activation.
inline bool is_classic(const ModelConfig& c) {
  return !c.normalize_before && !c.normalize_embedding && !c.add_final_layer_norm &&
         c.absolute_positions && !c.relative.enabled() && !c.rotary && c.norm != NormType::rms &&
         !c.gated && !c.scale_output && c.encoder_kv_heads() == c.encoder_heads &&
         c.decoder_kv_heads() == c.decoder_heads;
}

/// Returns the same model without the fields of variants, which must be unused.
inline paper::Transformer classic_model(const variants::Transformer& from) {
  paper::Transformer to;
  to.source = from.encoder.embedding;
  to.target = from.decoder.embedding;
  for (const variants::Layer& layer : from.encoder.layers) {
    to.encoder.push_back(
        {layer.self_attention, layer.feed_forward, layer.self_norm, layer.feed_norm});
  }
  for (const variants::Layer& layer : from.decoder.layers) {
    to.decoder.push_back(
        {{layer.self_attention, layer.feed_forward, layer.self_norm, layer.feed_norm},
         *layer.cross_attention,
         layer.cross_norm});
  }
  to.output = from.output;
  return to;
}

}  // namespace attn::test
