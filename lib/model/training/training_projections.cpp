#include "model/training/training_projections.h"

namespace attn {
namespace {

Linear keys_and_values_of(const MultiHeadAttention& layer) {
  return side_by_side({layer.key, layer.value});
}

}  // namespace

TrainableGlobalTokenAttention::TrainableGlobalTokenAttention(const EncoderLayer& parameters,
                                                     const EncoderLayer& gradient,
                                                     const AttentionShape& shape, Backend backend)
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
                                             const InputGradient& dx, TrainingScratch& scratch) {
  const Index d_model = x.cols();
  TrainableSelfAttention::projection_backward(x, dprojected, dx, scratch);
  const MatrixRef dglobal = scratch.global;  // [T, 3D]
  query_.backward(x, dglobal.leftCols(d_model), {dx.rows, true});
  key_value_.backward(x, dglobal.rightCols(2 * d_model), {dx.rows, true});
}

}  // namespace attn
