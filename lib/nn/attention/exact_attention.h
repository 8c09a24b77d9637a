// Exact attention forward: the formula of attention.h for every group and head, where translating
// and training meet. Rows that see few keys take all of them at once, here; those of patterns and
// of long sentences go through tiles/, which take them block by block.
#pragma once

#include "nn/attention/attention_head.h"
#include "nn/attention/attention_training.h"
#include "nn/attention/tiles/tiled_attention.h"

namespace attn {

/// `kept`: what training keeps of the pass, with room made for it; null in translating.
void attend_exactly(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                    SavedForBackward* kept);

/// What training does to the rows of a head, and keeps of them; in translating nothing.
struct RowsInTraining {
  Dropout dropout = {};       ///< acts on the weights before they meet the values
  Index first_weight = 0;     ///< number of the head's first weight, for dropout
  float* weights = nullptr;   ///< [queries, keys] gets softmax's output
  float* log_sums = nullptr;  ///< [queries] gets ln Σ exp(score)
};

/// Those rows of one head of one group. They see the same keys: under a causal mask it is one row.
void attend_rows(const AttentionShape& shape, const AttentionGroup& group, const HeadRows& rows,
                 const QueryRange& queries, const RowsInTraining& training);

/// What dropout does to one head of a group.
TileDropout dropout_of_head(const AttentionInput& input, const SavedForBackward& kept, Index group,
                            Index head);

}  // namespace attn
