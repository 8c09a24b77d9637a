// How one kind of attention is computed. A kind is one file here, and one in config/kinds/ that
// says what is known of it without computing. Kinds that list the keys of every query say tiles
// alone; those that go by way of something smaller replace the computing functions.
#pragma once

#include <memory>
#include <optional>

#include "config/patterns/attention_pattern.h"
#include "nn/attention/kv_cache.h"
#include "nn/attention/multi_head_attention.h"

namespace attn {

class QueryTileBuilder;

class PatternAttention {
 public:
  PatternAttention() = default;
  PatternAttention(const PatternAttention&) = delete;
  PatternAttention& operator=(const PatternAttention&) = delete;
  virtual ~PatternAttention() = default;

  /// The tiles of one head, where the kind leaves keys out. std::logic_error: no list of keys says
  /// what it computes.
  virtual void make_tiles(QueryTileBuilder& builder) const;

  /// The formula of attention.h for every group and head, over the keys of the tiles.
  virtual void attend(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                      AttentionObserver* observer) const;
  /// The same, keeping what the way back needs; kept.dropout acts on the weights.
  virtual void attend_training(const AttentionShape& shape, const AttentionInput& input,
                               MatrixRef output, SavedForBackward& saved) const;
  virtual void attend_backward(const AttentionShape& shape, const AttentionInput& input,
                               const SavedForBackward& saved, const ConstMatrixRef& doutput,
                               AttentionInputGradient gradient) const;

  /// What a decoder keeps from step to step: keys and values; and its bytes for so many hypotheses
  /// of so many steps.
  virtual std::unique_ptr<KvCache> make_kv_cache(const KvCacheShape& shape) const;
  virtual std::optional<std::uint64_t> kv_cache_bytes(const KvCacheShape& shape, Index hypotheses,
                                                      Index steps) const;
};

const PatternAttention& attention_for(const AttentionPattern& pattern);
/// Of the shape's pattern; full where it has none.
const PatternAttention& attention_for(const AttentionShape& shape);

// One function a kind, each in the file of its name.

const PatternAttention& full_attention();            // full.cpp
const PatternAttention& window_attention();          // window.cpp
const PatternAttention& longformer_attention();      // longformer.cpp
const PatternAttention& bigbird_attention();         // bigbird.cpp
const PatternAttention& sparse_strided_attention();  // sparse_strided.cpp
const PatternAttention& sparse_fixed_attention();    // sparse_fixed.cpp
const PatternAttention& chunks_attention();          // chunks.cpp
const PatternAttention& linformer_attention();       // linformer.cpp
const PatternAttention& performer_attention();       // performer.cpp
const PatternAttention& lsh_attention();             // lsh.cpp

}  // namespace attn
