#include "model/training/training_global_tokens.h"

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
  layout_->for_each([&](Index first, Index /*own*/, Index /*length*/) {
    for (Index g = 0; g < layout_->globals(); ++g) {
      for (Index j = 0; j < drows.cols(); ++j) gradient_.element(g, j) += drows(first + g, j);
    }
  });
}

}  // namespace attn
