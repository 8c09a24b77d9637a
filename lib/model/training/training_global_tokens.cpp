#include "model/training/training_layers.h"

namespace attn {

std::vector<AttentionGroup> TrainableGlobalTokens::begin(const PackedTokens& source) {
  layout_.reset();
  if (config_.global_tokens == 0) {
    return self_groups(source, /*causal=*/false, config_.encoder_attention.globals);
  }
  layout_ = std::make_unique<const GlobalTokenRows>(source, config_.global_tokens);
  return layout_->groups();
}

ConstMatrixRef TrainableGlobalTokens::enter(const ConstMatrixRef& sentences) {
  if (!layout_) return sentences;
  layout_->prepend(tokens_, sentences, rows_.resize(layout_->rows(), sentences.cols()));
  return rows_;
}

ConstMatrixRef TrainableGlobalTokens::leave(const ConstMatrixRef& rows) {
  if (!layout_) return rows;
  const Index own = rows.rows() - layout_->sentences() * layout_->globals();
  layout_->gather(rows, sentences_.resize(own, rows.cols()));
  return sentences_;
}

MatrixRef TrainableGlobalTokens::leave_backward(MatrixRef dsentences) {
  if (!layout_) return dsentences;
  MatrixRef drows = drows_.resize(layout_->rows(), dsentences.cols());
  drows.setZero();  // the decoder does not read global rows
  layout_->scatter(dsentences, drows);
  return drows;
}

void TrainableGlobalTokens::enter_backward(const MatrixRef& drows, MatrixRef dsentences) const {
  if (!layout_) return;
  layout_->gather(drows, dsentences);
  if (!gradient_.exists()) return;
  layout_->for_each([&](Index first, Index /*own*/, Index /*length*/) {
    for (Index g = 0; g < layout_->globals(); ++g) {
      for (Index j = 0; j < drows.cols(); ++j) gradient_.element(g, j) += drows(first + g, j);
    }
  });
}

namespace {

Linear keys_and_values_of(const MultiHeadAttention& layer) {
  return side_by_side({layer.key, layer.value});
}

}  // namespace

TrainableGlobalTokenAttention::TrainableGlobalTokenAttention(const EncoderLayer& parameters,
                                                             const EncoderLayer& gradient,
                                                             const AttentionShape& shape,
                                                             Backend backend)
    : TrainableSelfAttention(parameters.self_attention, gradient.self_attention, shape, backend),
      query_(parameters.global_attention.query, gradient.global_attention.query, backend),
      key_value_(keys_and_values_of(parameters.global_attention),
                 keys_and_values_of(gradient.global_attention), backend) {}

void TrainableGlobalTokenAttention::prepare() {
  query_.prepare();
  key_value_.prepare();
  TrainableSelfAttention::prepare();
}

GlobalProjections TrainableGlobalTokenAttention::projections() const {
  const MatrixRef rows = projected_;
  const Index d_model = rows.cols() / 3;
  return {rows.leftCols(d_model), keys_and_values(rows.rightCols(2 * d_model))};
}

void TrainableGlobalTokenAttention::attend(const ConstMatrixRef& x, const AttentionInput& rows,
                                           const Dropout& dropout, MatrixRef heads) {
  const Index d_model = x.cols();
  MatrixRef own = projected_.resize(x.rows(), 3 * d_model);  // [T, 3D] = Q | K | V
  query_.forward(x, own.leftCols(d_model));
  key_value_.forward(x, own.rightCols(2 * d_model));
  const GlobalProjections global = projections();
  AttentionInput with_globals = rows;
  with_globals.global = &global;
  run_attention(with_globals, dropout, heads);
}

void TrainableGlobalTokenAttention::attention_backward(const AttentionInput& rows,
                                                       const ConstMatrixRef& dheads,
                                                       const AttentionInputGradient& gradient,
                                                       TrainingScratch& scratch) {
  const Index d_model = dheads.cols();
  const GlobalProjections global = projections();
  AttentionInput with_globals = rows;
  with_globals.global = &global;
  MatrixRef dglobal = scratch.global.resize(dheads.rows(), 3 * d_model);  // [T, 3D]
  MatrixRef dmemory = dglobal.rightCols(2 * d_model);
  const GlobalGradient own{dglobal.leftCols(d_model), dmemory.data(), dmemory.data() + d_model,
                           dmemory.outerStride()};
  AttentionInputGradient with_own = gradient;
  with_own.global = &own;
  run_attention_backward(with_globals, dheads, with_own);
}

void TrainableGlobalTokenAttention::projection_backward(const ConstMatrixRef& x,
                                                        const ConstMatrixRef& dprojected,
                                                        const InputGradient& dx,
                                                        TrainingScratch& scratch) {
  const Index d_model = x.cols();
  TrainableSelfAttention::projection_backward(x, dprojected, dx, scratch);
  const MatrixRef dglobal = scratch.global;  // [T, 3D]
  query_.backward(x, dglobal.leftCols(d_model), {dx.rows, true});
  key_value_.backward(x, dglobal.rightCols(2 * d_model), {dx.rows, true});
}

}  // namespace attn
