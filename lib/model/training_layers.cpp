#include "model/training_layers.h"

#include "model/blocks.h"

namespace attn {
namespace {

KeysAndValuesGradient gradient_in(Buffer& rows, Index first_column, Index d) {
  return {rows.row(0) + first_column, rows.row(0) + first_column + d, rows.columns()};
}

KeysAndValues keys_and_values_in(const Buffer& rows, Index first_column, Index d) {
  return keys_and_values(rows.row(0), rows.columns(), first_column, d);
}

}  // namespace

// --- self-attention ------------------------------------------------------------------------------

TrainableSelfAttention::TrainableSelfAttention(const MultiHeadAttention& parameters,
                                               const MultiHeadAttention& gradient,
                                               const AttentionShape& shape, Backend backend)
    : shape_(shape),
      query_key_value_(side_by_side({parameters.query, parameters.key, parameters.value}),
                       side_by_side({gradient.query, gradient.key, gradient.value}), backend),
      output_(parameters.output, gradient.output, backend) {}

void TrainableSelfAttention::prepare() {
  query_key_value_.prepare();
  output_.prepare();
}

void TrainableSelfAttention::forward(const ConstMatrixRef& x, const LayerPass& pass,
                                     const Dropout& dropout, MatrixRef y) {
  dropout_ = dropout;
  const Index d = x.cols();
  MatrixRef projected = projected_.resize(x.rows(), 3 * d);
  query_key_value_.forward(x, projected);
  attend_training(shape_, projected.leftCols(d), keys_and_values_in(projected_, d, d), pass.self,
                  dropout_, context_.resize(x.rows(), d), kept_);
  output_.forward(context_, y);
}

void TrainableSelfAttention::backward(const ConstMatrixRef& x, const LayerPass& pass,
                                      const ConstMatrixRef& dy, const InputGradient& dx,
                                      TrainingScratch& scratch) {
  const Index d = x.cols();
  MatrixRef dcontext = scratch.context.resize(x.rows(), d);
  output_.backward(context_, dy, {dcontext});
  MatrixRef dprojected = scratch.projected.resize(x.rows(), 3 * d);
  attend_backward(shape_, projected_.view().leftCols(d), keys_and_values_in(projected_, d, d),
                  pass.self, dropout_, kept_, dcontext, dprojected.leftCols(d),
                  gradient_in(scratch.projected, d, d));
  query_key_value_.backward(x, dprojected, dx);
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

void TrainableCrossAttention::forward(const ConstMatrixRef& x, const ConstMatrixRef& memory,
                                      const LayerPass& pass, const Dropout& dropout, MatrixRef y) {
  dropout_ = dropout;
  const Index d = x.cols();
  query_.forward(x, queries_.resize(x.rows(), d));
  key_value_.forward(memory, projected_.resize(memory.rows(), 2 * d));
  attend_training(shape_, queries_, keys_and_values_in(projected_, 0, d), pass.cross, dropout_,
                  context_.resize(x.rows(), d), kept_);
  output_.forward(context_, y);
}

void TrainableCrossAttention::backward(const ConstMatrixRef& x, const ConstMatrixRef& memory,
                                       const LayerPass& pass, const ConstMatrixRef& dy,
                                       const InputGradient& dx, MatrixRef dmemory,
                                       TrainingScratch& scratch) {
  const Index d = x.cols();
  MatrixRef dcontext = scratch.context.resize(x.rows(), d);
  output_.backward(context_, dy, {dcontext});
  MatrixRef dkeys_values = scratch.projected.resize(memory.rows(), 2 * d);
  MatrixRef dqueries = scratch.hidden.resize(x.rows(), d);
  attend_backward(shape_, queries_, keys_and_values_in(projected_, 0, d), pass.cross, dropout_,
                  kept_, dcontext, dqueries, gradient_in(scratch.projected, 0, d));
  query_.backward(x, dqueries, dx);
  key_value_.backward(memory, dkeys_values, {dmemory, true});
}

// --- the encoder's layer -------------------------------------------------------------------------

TrainableEncoderLayer::TrainableEncoderLayer(const ModelConfig& config, std::size_t layer,
                                             const EncoderLayer& parameters,
                                             const EncoderLayer& gradient, Backend backend)
    : config_(config),
      attention_(parameters.self_attention, gradient.self_attention, encoder_shape(config, layer),
                 backend),
      attention_residual_(parameters.self_attention_norm, gradient.self_attention_norm,
                          config.normalize_before),
      feed_forward_(parameters.feed_forward, gradient.feed_forward, backend),
      feed_forward_residual_(parameters.final_norm, gradient.final_norm, config.normalize_before) {}

void TrainableEncoderLayer::prepare() {
  attention_.prepare();
  feed_forward_.prepare();
}

ConstMatrixRef TrainableEncoderLayer::forward(const ConstMatrixRef& x, const LayerPass& pass) {
  const Dropout attention = pass.next(config_.attention_dropout);
  const Dropout first = pass.next(config_.dropout);
  const Dropout activation = pass.next(config_.activation_dropout);
  const Dropout second = pass.next(config_.dropout);
  const ConstMatrixRef middle =
      attention_residual_.forward(x, first, [&](const ConstMatrixRef& in, MatrixRef out) {
        attention_.forward(in, pass, attention, out);
      });
  return feed_forward_residual_.forward(
      middle, second,
      [&](const ConstMatrixRef& in, MatrixRef out) { feed_forward_.forward(in, activation, out); });
}

void TrainableEncoderLayer::backward(const ConstMatrixRef& x, const LayerPass& pass, MatrixRef d,
                                     TrainingScratch& scratch) {
  feed_forward_residual_.backward(
      attention_residual_.output(), d, scratch.residual,
      [&](const ConstMatrixRef& in, const ConstMatrixRef& dout, const InputGradient& din) {
        feed_forward_.backward(in, dout, din, scratch.hidden);
      });
  attention_residual_.backward(
      x, d, scratch.residual,
      [&](const ConstMatrixRef& in, const ConstMatrixRef& dout, const InputGradient& din) {
        attention_.backward(in, pass, dout, din, scratch);
      });
}

// --- the decoder's layer -------------------------------------------------------------------------

TrainableDecoderLayer::TrainableDecoderLayer(const ModelConfig& config, std::size_t layer,
                                             const DecoderLayer& parameters,
                                             const DecoderLayer& gradient, Backend backend)
    : config_(config),
      self_attention_(parameters.self_attention, gradient.self_attention,
                      decoder_shape(config, AttentionKind::decoder_self, layer), backend),
      self_residual_(parameters.self_attention_norm, gradient.self_attention_norm,
                     config.normalize_before),
      cross_attention_(parameters.cross_attention, gradient.cross_attention,
                       decoder_shape(config, AttentionKind::cross, layer), backend),
      cross_residual_(parameters.cross_attention_norm, gradient.cross_attention_norm,
                      config.normalize_before),
      feed_forward_(parameters.feed_forward, gradient.feed_forward, backend),
      feed_forward_residual_(parameters.final_norm, gradient.final_norm, config.normalize_before) {}

void TrainableDecoderLayer::prepare() {
  self_attention_.prepare();
  cross_attention_.prepare();
  feed_forward_.prepare();
}

ConstMatrixRef TrainableDecoderLayer::forward(const ConstMatrixRef& x, const ConstMatrixRef& memory,
                                              const LayerPass& pass) {
  const Dropout self_weights = pass.next(config_.attention_dropout);
  const Dropout self_output = pass.next(config_.dropout);
  const Dropout cross_weights = pass.next(config_.attention_dropout);
  const Dropout cross_output = pass.next(config_.dropout);
  const Dropout activation = pass.next(config_.activation_dropout);
  const Dropout output = pass.next(config_.dropout);
  const ConstMatrixRef self =
      self_residual_.forward(x, self_output, [&](const ConstMatrixRef& in, MatrixRef out) {
        self_attention_.forward(in, pass, self_weights, out);
      });
  const ConstMatrixRef cross =
      cross_residual_.forward(self, cross_output, [&](const ConstMatrixRef& in, MatrixRef out) {
        cross_attention_.forward(in, memory, pass, cross_weights, out);
      });
  return feed_forward_residual_.forward(
      cross, output,
      [&](const ConstMatrixRef& in, MatrixRef out) { feed_forward_.forward(in, activation, out); });
}

void TrainableDecoderLayer::backward(const ConstMatrixRef& x, const ConstMatrixRef& memory,
                                     const LayerPass& pass, MatrixRef d, MatrixRef dmemory,
                                     TrainingScratch& scratch) {
  feed_forward_residual_.backward(
      cross_residual_.output(), d, scratch.residual,
      [&](const ConstMatrixRef& in, const ConstMatrixRef& dout, const InputGradient& din) {
        feed_forward_.backward(in, dout, din, scratch.hidden);
      });
  cross_residual_.backward(
      self_residual_.output(), d, scratch.residual,
      [&](const ConstMatrixRef& in, const ConstMatrixRef& dout, const InputGradient& din) {
        cross_attention_.backward(in, memory, pass, dout, din, dmemory, scratch);
      });
  self_residual_.backward(
      x, d, scratch.residual,
      [&](const ConstMatrixRef& in, const ConstMatrixRef& dout, const InputGradient& din) {
        self_attention_.backward(in, pass, dout, din, scratch);
      });
}

}  // namespace attn
