// Global tokens that a model brings itself (Pegasus-X), in training: their rows on the way in and
// out of the encoder's layers, and their gradient. Without such tokens all rows pass as they are.
#pragma once

#include <memory>
#include <vector>

#include "compute/buffer.h"
#include "config/model_config.h"
#include "model/global_tokens.h"

namespace attn {

class TrainableGlobalTokens {
 public:
  /// `tokens` and `gradient` [G, D].
  TrainableGlobalTokens(const ModelConfig& config, const Parameter& tokens,
                        const Parameter& gradient)
      : config_(config), tokens_(tokens), gradient_(gradient) {}

  /// Who looks at whom among the rows of this batch; they refer to this object and to `source`.
  std::vector<AttentionGroup> begin(const PackedTokens& source);

  /// The sentences' rows [S, D] → those that go through the layers [S + B·G, D], and back.
  ConstMatrixRef enter(const ConstMatrixRef& sentences);
  ConstMatrixRef leave(const ConstMatrixRef& rows);

  /// The gradient at leave()'s result → at its argument.
  MatrixRef leave_backward(MatrixRef dsentences);
  /// The gradient at enter()'s result → dsentences, and the tokens' own.
  void enter_backward(const MatrixRef& drows, MatrixRef dsentences) const;

 private:
  const ModelConfig& config_;
  Parameter tokens_;
  Parameter gradient_;
  std::unique_ptr<const GlobalTokenRows> layout_;  ///< null: no such tokens
  ActivationBuffer rows_;                               ///< [S + B·G, D]
  ActivationBuffer sentences_;                          ///< [S, D]
  ActivationBuffer drows_;                              ///< [S + B·G, D]
};

}  // namespace attn
