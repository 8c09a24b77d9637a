// Global tokens with projections of their own (LED), as a block variant: what self-attention meets
// in the encoder's layers of such a model.
#pragma once

#include <span>

#include "nn/attention/kv_cache.h"

namespace attn {

/// A global token's query, and what it looks at, are made by matrices of their own from the same
/// rows that the others are made from.
class GlobalTokenAttention : public KvCacheLayer {
 public:
  /// Projects `x` [T, D], the rows that the block reads, into `work`, which outlives this.
  GlobalTokenAttention(const MultiHeadAttention& layer, std::span<const AttentionGroup> groups,
                   const ConstMatrixRef& x, Matrix& work);

  void attend(const AttentionShape& shape, AttentionInput rows, MatrixRef heads,
              AttentionObserver* observer) override;

 private:
  const Matrix& work_;  ///< [T, 3D] = Q | K | V; queries of global tokens alone
};

}  // namespace attn
