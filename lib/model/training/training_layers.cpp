#include "model/training/training_layers.h"

#include <algorithm>

namespace attn {

// --- self-attention ------------------------------------------------------------------------------

namespace {

/// Returns query, key and value side by side; if queries and keys share a projection, it and the
/// value.
Linear fused(const MultiHeadAttention& layer) {
  if (layer.key.weight.rows == 0) return side_by_side({layer.query, layer.value});
  return side_by_side({layer.query, layer.key, layer.value});
}

/// Sums the gradients of every head's keys and values [T, 2I] into those of the shared ones [T,
/// 2I'].
void sum_shared_heads(const AttentionShape& shape, const ConstMatrixRef& all, MatrixRef shared) {
  const Index width = shape.head_dim;
  parallel_for(all.rows(), all.size() * 2, [&](Index t) {
    const float* from = all.data() + t * all.outerStride();
    float* to = shared.data() + t * shared.outerStride();
    for (Index head = 0; head < 2 * shape.heads; ++head) {  // keys first, then values
      float* sum = to + head / shape.queries_per_kv_head * width;
      if (head % shape.queries_per_kv_head == 0) {
        std::copy_n(from + head * width, width, sum);
      } else {
        kernels().add(from + head * width, sum, width);
      }
    }
  });
}

}  // namespace

TrainableSelfAttention::TrainableSelfAttention(const MultiHeadAttention& parameters,
                                               const MultiHeadAttention& gradient,
                                               const AttentionShape& shape, Backend backend)
    : shape_(shape),
      extras_(parameters.extras),
      extras_gradient_(gradient.extras),
      shares_query_and_key_(parameters.key.weight.data == nullptr),
      query_key_value_(fused(parameters), fused(gradient), backend),
      output_(parameters.output, gradient.output, backend) {}

void TrainableSelfAttention::prepare() {
  query_key_value_.prepare();
  output_.prepare();
}

AttentionInput TrainableSelfAttention::read(const LayerPass& pass) const {
  const MatrixRef rows = projected_;
  const Index columns = shape_.key_columns();
  const float* values = rows.data() + rows.cols() - columns;
  const float* keys = shares_query_and_key_ ? rows.data() : values - columns;
  return {rows.leftCols(shape_.inner()),
          {keys, values, rows.outerStride()},
          pass.self,
          nullptr,
          &extras_};
}

void TrainableSelfAttention::forward(const ConstMatrixRef& x, const LayerPass& pass,
                                     const Dropout& dropout, MatrixRef out) {
  shape_.relative_bias = pass.position_encoding.relative_bias_of_layer(shape_.layer);
  // [T, I + 2I'] = Q | K | V, or [T, 2I] = Q | V
  MatrixRef projected = projected_.resize(x.rows(), query_key_value_.out());
  MatrixRef heads = heads_.resize(x.rows(), shape_.inner());  // [T, I]

  query_key_value_.forward(x, projected);
  if (const RotaryEmbedding* rotary = pass.position_encoding.rotary()) {
    rotary->apply_rotary(projected.leftCols(shape_.inner() + shape_.key_columns()), pass.positions,
                         RotaryEmbedding::Direction::forward);
  }
  attend(x, read(pass), dropout, heads);
  output_.forward(heads, out);
}

void TrainableSelfAttention::backward(const ConstMatrixRef& x, const LayerPass& pass,
                                      const ConstMatrixRef& dout, const InputGradient& dx) {
  const Index inner = shape_.inner();
  MatrixRef dprojected = pass.scratch.projected.resize(x.rows(), 3 * inner);  // [T, 3I]
  MatrixRef dheads = pass.scratch.heads.resize(x.rows(), inner);              // [T, I]

  output_.backward(heads_, dout, {dheads});
  AttentionInputGradient gradient =
      input_gradient(dprojected.leftCols(inner), dprojected.rightCols(2 * inner));
  ExtraAttentionParameters extras = extras_gradient_;
  if (!extras.relative_bias.exists()) extras.relative_bias = pass.drelative_bias;
  gradient.extras = &extras;
  attention_backward(read(pass), dheads, gradient, pass.scratch);
  projection_backward(x, fold_gradients(pass), dx, pass.scratch);
}

void TrainableSelfAttention::attend(const ConstMatrixRef& /*x*/, const AttentionInput& rows,
                                    const Dropout& dropout, MatrixRef heads) {
  run_attention(rows, dropout, heads);
}

void TrainableSelfAttention::attention_backward(const AttentionInput& rows,
                                                const ConstMatrixRef& dheads,
                                                const AttentionInputGradient& gradient,
                                                TrainingScratch& /*scratch*/) {
  run_attention_backward(rows, dheads, gradient);
}

ConstMatrixRef TrainableSelfAttention::fold_gradients(const LayerPass& pass) const {
  const Index inner = shape_.inner(), keys = shape_.key_columns();
  const MatrixRef all = pass.scratch.projected;  // [T, 3I]
  if (shares_query_and_key_) {
    MatrixRef folded = pass.scratch.folded.resize(all.rows(), 2 * inner);  // [T, 2I] = Q | V
    folded.leftCols(inner) = all.leftCols(inner) + all.middleCols(inner, inner);
    folded.rightCols(inner) = all.rightCols(inner);
    return folded;
  }
  const auto folded = [&]() -> MatrixRef {
    if (shape_.queries_per_kv_head == 1) return all;
    MatrixRef sums = pass.scratch.folded.resize(all.rows(), inner + 2 * keys);
    sums.leftCols(inner) = all.leftCols(inner);
    sum_shared_heads(shape_, all.rightCols(2 * inner), sums.rightCols(2 * keys));
    return sums;
  }();
  if (const RotaryEmbedding* rotary = pass.position_encoding.rotary()) {
    MatrixRef rotated = folded;
    rotary->apply_rotary(rotated.leftCols(inner + keys), pass.positions,
                         RotaryEmbedding::Direction::backward);
  }
  return folded;
}

void TrainableSelfAttention::projection_backward(const ConstMatrixRef& x,
                                                 const ConstMatrixRef& dprojected,
                                                 const InputGradient& dx,
                                                 TrainingScratch& /*scratch*/) {
  query_key_value_.backward(x, dprojected, dx);
}

void TrainableSelfAttention::run_attention(const AttentionInput& rows, const Dropout& dropout,
                                           MatrixRef heads) {
  attend_training(shape_, rows, dropout, heads, saved_);
}

void TrainableSelfAttention::run_attention_backward(const AttentionInput& rows,
                                                    const ConstMatrixRef& dheads,
                                                    const AttentionInputGradient& gradient) {
  attend_backward(shape_, rows, saved_, dheads, gradient);
}

// --- cross-attention -----------------------------------------------------------------------------

TrainableCrossAttention::TrainableCrossAttention(const MultiHeadAttention& parameters,
                                                 const MultiHeadAttention& gradient,
                                                 const AttentionShape& shape, Backend backend)
    : shape_(shape),
      query_(parameters.query, gradient.query, backend),
      key_value_(side_by_side({parameters.key, parameters.value}),
                 side_by_side({gradient.key, gradient.value}), backend),
      output_(parameters.output, gradient.output, backend) {}

void TrainableCrossAttention::prepare() {
  query_.prepare();
  key_value_.prepare();
  output_.prepare();
}

void TrainableCrossAttention::forward(const ConstMatrixRef& x, const ConstMatrixRef& source,
                                      const LayerPass& pass, const Dropout& dropout,
                                      MatrixRef out) {
  MatrixRef queries = queries_.resize(x.rows(), shape_.inner());                 // [T, I]
  MatrixRef keys_values = keys_values_.resize(source.rows(), key_value_.out());  // [S, 2I']
  MatrixRef heads = heads_.resize(x.rows(), shape_.inner());                     // [T, I]

  query_.forward(x, queries);
  key_value_.forward(source, keys_values);
  attend_training(shape_, {queries, keys_and_values(keys_values), pass.cross}, dropout, heads,
                  saved_);
  output_.forward(heads, out);
}

void TrainableCrossAttention::backward(const ConstMatrixRef& x, const SourceWithGradient& source,
                                       const LayerPass& pass, const ConstMatrixRef& dout,
                                       const InputGradient& dx) {
  const Index inner = shape_.inner();
  const Index source_rows = source.rows.rows();
  MatrixRef dqueries = pass.scratch.hidden.resize(x.rows(), inner);                // [T, I]
  MatrixRef dkeys_values = pass.scratch.projected.resize(source_rows, 2 * inner);  // [S, 2I]
  MatrixRef dheads = pass.scratch.heads.resize(x.rows(), inner);                   // [T, I]

  output_.backward(heads_, dout, {dheads});
  attention_backward(pass, dheads, input_gradient(dqueries, dkeys_values));
  query_.backward(x, dqueries, dx);
  const InputGradient dsource{source.gradient, true};
  if (shape_.queries_per_kv_head == 1)
    return key_value_.backward(source.rows, dkeys_values, dsource);
  MatrixRef shared = pass.scratch.folded.resize(source_rows, key_value_.out());  // [S, 2I']
  sum_shared_heads(shape_, dkeys_values, shared);
  key_value_.backward(source.rows, shared, dsource);
}

void TrainableCrossAttention::attention_backward(const LayerPass& pass,
                                                 const ConstMatrixRef& dheads,
                                                 const AttentionInputGradient& gradient) {
  const AttentionInput input{queries_, keys_and_values(keys_values_), pass.cross};
  if (pass.guided == nullptr || pass.guided->layer != shape_.layer) {
    return attend_backward(shape_, input, saved_, dheads, gradient);
  }
  std::vector<float>& dweights = pass.guided->dweights;
  dweights.assign(saved_.weights.size(), 0.0F);
  pass.guided->loss =
      guided_alignment_loss(shape_, pass.cross, saved_, pass.guided->alignment, dweights);
  attend_backward_with_weights(shape_, input, saved_, {dheads, dweights}, gradient);
}

// --- encoder layer -------------------------------------------------------------------------------

namespace {

std::unique_ptr<TrainableSelfAttention> make_self_attention(const EncoderLayer& parameters,
                                                            const EncoderLayer& gradient,
                                                            const AttentionShape& shape,
                                                            Backend backend) {
  if (parameters.global_attention.query.weight.data != nullptr) {
    return std::make_unique<TrainableGlobalTokenAttention>(parameters, gradient, shape, backend);
  }
  return std::make_unique<TrainableSelfAttention>(parameters.self_attention,
                                                  gradient.self_attention, shape, backend);
}

}  // namespace

TrainableEncoderLayer::TrainableEncoderLayer(const ModelConfig& config, Index index,
                                             const EncoderLayer& parameters,
                                             const EncoderLayer& gradient, Backend backend)
    : config_(config),
      self_attention_(make_self_attention(
          parameters, gradient, attention_shape(config, AttentionSite::encoder_self, index),
          backend)),
      self_residual_(parameters.self_attention_norm, gradient.self_attention_norm,
                     config.normalize_before),
      feed_forward_(parameters.feed_forward, gradient.feed_forward, backend),
      forward_residual_(parameters.feed_forward_norm, gradient.feed_forward_norm,
                        config.normalize_before) {
  if (parameters.global_norm.weight.data != nullptr) {
    self_residual_.add_global(parameters.global_norm, gradient.global_norm);
  }
}

void TrainableEncoderLayer::prepare() {
  self_attention_->prepare();
  feed_forward_.prepare();
}

ConstMatrixRef TrainableEncoderLayer::forward(const ConstMatrixRef& x, const LayerPass& pass) {
  // Self-attention.
  const ConstMatrixRef self_in = self_residual_.pre_norm(x, pass.self);
  self_attention_->forward(self_in, pass, pass.next(config_.attention_dropout),
                           self_residual_.out());
  const ConstMatrixRef y = self_residual_.add_and_norm(x, pass.next(config_.dropout));

  // Feed-forward.
  const ConstMatrixRef forward_in = forward_residual_.pre_norm(y);
  feed_forward_.forward(forward_in, pass.next(config_.activation_dropout), forward_residual_.out());
  return forward_residual_.add_and_norm(y, pass.next(config_.dropout));
}

void TrainableEncoderLayer::backward(const ConstMatrixRef& x, const LayerPass& pass, MatrixRef dx) {
  ResidualScratch& scratch = pass.scratch.residual;
  const ConstMatrixRef y = self_residual_.output();

  // Feed-forward.
  const ConstMatrixRef dforward = forward_residual_.add_and_norm_backward(dx, scratch);
  feed_forward_.backward(forward_residual_.block_input(y), dforward,
                         forward_residual_.block_input_gradient(dx, scratch), pass.scratch.hidden);
  forward_residual_.pre_norm_backward(y, dx, scratch);

  // Self-attention.
  const ConstMatrixRef dself = self_residual_.add_and_norm_backward(dx, scratch);
  self_attention_->backward(self_residual_.block_input(x), pass, dself,
                            self_residual_.block_input_gradient(dx, scratch));
  self_residual_.pre_norm_backward(x, dx, scratch, pass.self);
}

// --- decoder layer -------------------------------------------------------------------------------

TrainableDecoderLayer::TrainableDecoderLayer(const ModelConfig& config, Index index,
                                             const DecoderLayer& parameters,
                                             const DecoderLayer& gradient, Backend backend)
    : config_(config),
      self_attention_(parameters.self_attention, gradient.self_attention,
                      attention_shape(config, AttentionSite::decoder_self, index), backend),
      self_residual_(parameters.self_attention_norm, gradient.self_attention_norm,
                     config.normalize_before),
      cross_attention_(parameters.cross_attention, gradient.cross_attention,
                       attention_shape(config, AttentionSite::cross, index), backend),
      cross_residual_(parameters.cross_attention_norm, gradient.cross_attention_norm,
                      config.normalize_before),
      feed_forward_(parameters.feed_forward, gradient.feed_forward, backend),
      forward_residual_(parameters.feed_forward_norm, gradient.feed_forward_norm,
                        config.normalize_before) {}

void TrainableDecoderLayer::prepare() {
  self_attention_.prepare();
  cross_attention_.prepare();
  feed_forward_.prepare();
}

ConstMatrixRef TrainableDecoderLayer::forward(const ConstMatrixRef& x, const ConstMatrixRef& source,
                                              const LayerPass& pass) {
  // Masked self-attention; the causal mask is in pass.self.
  const ConstMatrixRef self_in = self_residual_.pre_norm(x, pass.self);
  self_attention_.forward(self_in, pass, pass.next(config_.attention_dropout),
                          self_residual_.out());
  const ConstMatrixRef y = self_residual_.add_and_norm(x, pass.next(config_.dropout));

  // Cross-attention.
  const ConstMatrixRef cross_in = cross_residual_.pre_norm(y);
  cross_attention_.forward(cross_in, source, pass, pass.next(config_.attention_dropout),
                           cross_residual_.out());
  const ConstMatrixRef z = cross_residual_.add_and_norm(y, pass.next(config_.dropout));

  // Feed-forward.
  const ConstMatrixRef forward_in = forward_residual_.pre_norm(z);
  feed_forward_.forward(forward_in, pass.next(config_.activation_dropout), forward_residual_.out());
  return forward_residual_.add_and_norm(z, pass.next(config_.dropout));
}

void TrainableDecoderLayer::backward(const ConstMatrixRef& x, const SourceWithGradient& source,
                                     const LayerPass& pass, MatrixRef dx) {
  ResidualScratch& scratch = pass.scratch.residual;
  const ConstMatrixRef y = self_residual_.output();
  const ConstMatrixRef z = cross_residual_.output();

  // Feed-forward.
  const ConstMatrixRef dforward = forward_residual_.add_and_norm_backward(dx, scratch);
  feed_forward_.backward(forward_residual_.block_input(z), dforward,
                         forward_residual_.block_input_gradient(dx, scratch), pass.scratch.hidden);
  forward_residual_.pre_norm_backward(z, dx, scratch);

  // Cross-attention.
  const ConstMatrixRef dcross = cross_residual_.add_and_norm_backward(dx, scratch);
  cross_attention_.backward(cross_residual_.block_input(y), source, pass, dcross,
                            cross_residual_.block_input_gradient(dx, scratch));
  cross_residual_.pre_norm_backward(y, dx, scratch);

  // Masked self-attention; the causal mask is in pass.self.
  const ConstMatrixRef dself = self_residual_.add_and_norm_backward(dx, scratch);
  self_attention_.backward(self_residual_.block_input(x), pass, dself,
                           self_residual_.block_input_gradient(dx, scratch));
  self_residual_.pre_norm_backward(x, dx, scratch, pass.self);
}

}  // namespace attn
