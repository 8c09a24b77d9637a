// Exact attention forward: the formula of attention.h for every group and head, where translating
// and training meet. Rows that see few keys take all of them at once, here; those of patterns and
// of long sentences go through tiles/, which take them block by block.
#pragma once

#include "nn/attention/attention.h"
#include "nn/attention/multi_head_attention.h"
#include "nn/attention/tiled_attention.h"

namespace attn {

/// `kept`: what training keeps of the pass, with room made for it; null in translating.
void attend_exactly(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                    SavedForBackward* saved);

/// What training does to the rows of a head, and keeps of them; in translating nothing.
struct HeadTraining {
  Dropout dropout = {};       ///< acts on the weights before they meet the values
  Index first_weight = 0;     ///< number of the head's first weight, for dropout
  float* weights = nullptr;   ///< [queries, keys] gets softmax's output
  float* log_sums = nullptr;  ///< [queries] gets ln Σ exp(score)
};

/// One head of one group, and what training wants of it.
struct HeadTask {
  const AttentionShape& shape;
  const AttentionGroup& group;
  HeadRows rows;
  HeadTraining training;
};

/// Some of its rows, without tiles. Several at a time where they see the same keys: a key that is
/// loaded serves them all, as it does the beams of a sentence in cross-attention.
void attend_rows(const HeadTask& head, const QueryRange& queries);

/// What dropout does to one head of a group.
TileDropout dropout_of_head(const AttentionInput& input, const SavedForBackward& saved, Index group,
                            Index head);

}  // namespace attn
