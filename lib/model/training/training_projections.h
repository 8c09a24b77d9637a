// Self-attention of an encoder whose global tokens have projections of their own (LED), in
// training.
#pragma once

#include "model/training/training_layers.h"

namespace attn {

class TrainableGlobalTokenAttention : public TrainableSelfAttention {
 public:
  TrainableGlobalTokenAttention(const EncoderLayer& parameters, const EncoderLayer& gradient,
                            const AttentionShape& shape, Backend backend);
  void prepare() override;

 protected:
  void attend(const ConstMatrixRef& x, const AttentionInput& rows, const Dropout& dropout,
              MatrixRef heads) override;
  void attention_backward(const AttentionInput& rows, const ConstMatrixRef& dheads,
                   const AttentionInputGradient& gradient, TrainingScratch& scratch) override;
  void projection_backward(const ConstMatrixRef& x, const ConstMatrixRef& dprojected,
                    const InputGradient& dx, TrainingScratch& scratch) override;

 private:
  GlobalProjections projections() const;

  TrainableLinear query_;
  TrainableLinear key_value_;
  ActivationBuffer projected_;  ///< [T, 3D] = Q | K | V of all rows, of which global tokens' queries are read
};

}  // namespace attn
