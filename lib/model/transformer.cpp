#include "model/transformer.h"

#include <cmath>

#include "base/error.h"
#include "model/blocks.h"
#include "model/packed_tokens.h"
#include "nn/embedding.h"

namespace attn {
namespace {

/// Self-attention of whole sentences: project, attend, project.
void self_attention(const MultiHeadAttention& layer, const AttentionShape& shape,
                    std::span<const AttentionGroup> groups, const Watch& watch,
                    const ConstMatrixRef& in, MatrixRef out, Workspace& work) {
  const Index d = in.cols();
  MatrixRef projected = work.projected.topRows(in.rows());
  layer.query_key_value(in, projected);
  watch(Stage::projected, projected);
  MatrixRef context = work.context.topRows(in.rows());
  attend(shape, projected.leftCols(d),
         keys_and_values(projected.data(), projected.outerStride(), d, d), groups, context,
         watch.observer);
  watch(Stage::heads, context);
  layer.output_product(context, out);
}

}  // namespace

void Workspace::reserve(Index rows, Index d_model, Index ffn_dim) {
  normal.resize(rows, d_model);
  projected.resize(rows, 3 * d_model);
  context.resize(rows, d_model);
  block.resize(rows, d_model);
  hidden.resize(rows, ffn_dim);
}

void add_rows(const ConstMatrixRef& x, MatrixRef y) {
  parallel_for(x.rows(), x.size(), [&](Index t) {
    kernels().add(x.data() + t * x.outerStride(), y.data() + t * y.outerStride(), x.cols());
  });
}

AttentionShape encoder_shape(const ModelConfig& config, std::size_t layer) {
  const Index head_dim = config.encoder_head_dim();
  const float scale =
      config.scale_attention ? 1.0F / std::sqrt(static_cast<float>(head_dim)) : 1.0F;
  return {AttentionKind::encoder_self, static_cast<Index>(layer), config.encoder_heads, head_dim,
          scale};
}

AttentionShape decoder_shape(const ModelConfig& config, AttentionKind kind, std::size_t layer) {
  const Index head_dim = config.decoder_head_dim();
  const float scale =
      config.scale_attention ? 1.0F / std::sqrt(static_cast<float>(head_dim)) : 1.0F;
  return {kind, static_cast<Index>(layer), config.decoder_heads, head_dim, scale};
}

Transformer::Transformer(ModelConfig config, ModelParameters parameters, Storage storage,
                         Backend backend)
    : config_(std::move(config)), parameters_(std::move(parameters)), storage_(std::move(storage)) {
  for (EncoderLayer& layer : parameters_.encoder_layers) {
    layer.self_attention.prepare_self(backend);
    layer.feed_forward.prepare(backend);
  }
  for (DecoderLayer& layer : parameters_.decoder_layers) {
    layer.self_attention.prepare_self(backend);
    layer.cross_attention.prepare_cross(backend);
    layer.feed_forward.prepare(backend);
  }
  output_product_ =
      WeightProduct({parameters_.output.transposed()}, {parameters_.logits_bias}, backend);
}

float Transformer::embedding_scale() const {
  return config_.scale_embedding ? std::sqrt(static_cast<float>(config_.d_model)) : 1.0F;
}

EncodedSource Transformer::encode(const PackedTokens& source, AttentionObserver* observer) const {
  check_tokens(source, config_.vocab_size, config_.max_positions, "source");
  const StackEnds& ends = parameters_.encoder;
  Matrix x(static_cast<Index>(source.ids.size()), config_.d_model);
  embed(ends.embedding, ends.positions, embedding_scale(), source.ids, positions_of(source), x);
  if (config_.normalize_embedding) ends.embedding_norm.forward(x, x);

  Watch watch{observer, AttentionKind::encoder_self, 0};
  watch(Stage::embedded, x);

  Workspace work;
  work.reserve(x.rows(), config_.d_model, config_.encoder_ffn_dim);
  const std::vector<AttentionGroup> groups = self_groups(source, /*causal=*/false);
  const bool before = config_.normalize_before;
  for (std::size_t i = 0; i < parameters_.encoder_layers.size(); ++i) {
    const EncoderLayer& layer = parameters_.encoder_layers[i];
    watch.layer = static_cast<Index>(i);
    residual_block({layer.self_attention_norm, before}, x, work, watch,
                   [&](const ConstMatrixRef& in, MatrixRef out) {
                     self_attention(layer.self_attention, encoder_shape(config_, i), groups, watch,
                                    in, out, work);
                   });
    feed_forward_block(layer.feed_forward, {layer.final_norm, before}, x, work);
    watch(Stage::layer_output, x);
  }
  if (config_.add_final_layer_norm) ends.final_norm.forward(x, x);
  watch(Stage::stack_output, x);
  return {std::move(x), source.offsets, source.hidden};
}

Matrix Transformer::decode(const PackedTokens& decoder_input, const EncodedSource& source,
                           AttentionObserver* observer) const {
  check_tokens(decoder_input, config_.decoder_vocab_size, config_.max_positions, "target");
  if (decoder_input.offsets.size() != source.offsets.size()) {
    throw InputError("{} target sentences for {} source sentences", decoder_input.sentences(),
                     source.offsets.size() - 1);
  }
  const StackEnds& ends = parameters_.decoder;
  const Index d = config_.d_model;
  Matrix x(static_cast<Index>(decoder_input.ids.size()), d);
  embed(ends.embedding, ends.positions, embedding_scale(), decoder_input.ids,
        positions_of(decoder_input), x);
  if (config_.normalize_embedding) ends.embedding_norm.forward(x, x);

  Watch self_watch{observer, AttentionKind::decoder_self, 0};
  Watch cross_watch{observer, AttentionKind::cross, 0};
  self_watch(Stage::embedded, x);

  Workspace work;
  work.reserve(x.rows(), d, config_.decoder_ffn_dim);
  Matrix memory(source.rows.rows(), 2 * d);
  const std::vector<AttentionGroup> self = self_groups(decoder_input, /*causal=*/true);
  const std::vector<AttentionGroup> cross =
      cross_groups(decoder_input, source.offsets, source.hidden);
  const bool before = config_.normalize_before;
  for (std::size_t i = 0; i < parameters_.decoder_layers.size(); ++i) {
    const DecoderLayer& layer = parameters_.decoder_layers[i];
    self_watch.layer = cross_watch.layer = static_cast<Index>(i);
    residual_block({layer.self_attention_norm, before}, x, work, self_watch,
                   [&](const ConstMatrixRef& in, MatrixRef out) {
                     self_attention(layer.self_attention,
                                    decoder_shape(config_, AttentionKind::decoder_self, i), self,
                                    self_watch, in, out, work);
                   });
    residual_block({layer.cross_attention_norm, before}, x, work, cross_watch,
                   [&](const ConstMatrixRef& in, MatrixRef out) {
                     MatrixRef query = work.projected.topRows(in.rows()).leftCols(d);
                     layer.cross_attention.query_alone(in, query);
                     cross_watch(Stage::projected, query);
                     layer.cross_attention.key_value(source.rows, memory);
                     cross_watch(Stage::memory, memory);
                     MatrixRef context = work.context.topRows(in.rows());
                     attend(decoder_shape(config_, AttentionKind::cross, i), query,
                            keys_and_values(memory.data(), 2 * d, 0, d), cross, context, observer);
                     cross_watch(Stage::heads, context);
                     layer.cross_attention.output_product(context, out);
                   });
    feed_forward_block(layer.feed_forward, {layer.final_norm, before}, x, work);
    self_watch(Stage::layer_output, x);
  }
  if (config_.add_final_layer_norm) ends.final_norm.forward(x, x);
  self_watch(Stage::stack_output, x);
  return x;
}

void Transformer::logits(const ConstMatrixRef& hidden, MatrixRef out) const {
  output_product_(hidden, out);
}

}  // namespace attn
