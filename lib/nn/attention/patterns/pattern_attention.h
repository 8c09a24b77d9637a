// The computation of each sparse pattern. The pattern's settings, and everything known without
// computing, are in config/patterns/sparse_pattern.h.
//
// Most patterns list the keys of every query: they override make_tiles(), and
// multi_head_attention.cpp computes exact attention over those tiles. The approximations
// (linformer, performer, lsh) have no such list and override attend(), attend_training() and
// attend_backward().
#pragma once

#include <cstdint>
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

  /// Adds the tiles of one head. Throws std::logic_error for an approximation.
  virtual void make_tiles(QueryTileBuilder& builder) const;

  // For approximations. The others throw std::logic_error.

  /// See attend() in multi_head_attention.h.
  virtual void attend(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                      AttentionObserver* observer) const;
  /// Like attend(), but saves what backward needs. saved.dropout applies to the weights.
  virtual void attend_training(const AttentionShape& shape, const AttentionInput& input,
                               MatrixRef output, SavedForBackward& saved) const;
  virtual void attend_backward(const AttentionShape& shape, const AttentionInput& input,
                               const SavedForBackward& saved, const ConstMatrixRef& doutput,
                               AttentionInputGradient gradient) const;

  /// Makes a decoder's KV cache: by default one of keys and values.
  virtual std::unique_ptr<KvCache> make_kv_cache(const KvCacheShape& shape) const;
  /// Returns that cache's bytes for this many hypotheses and steps, or nothing on overflow.
  virtual std::optional<std::uint64_t> kv_cache_bytes(const KvCacheShape& shape, Index hypotheses,
                                                      Index steps) const;
};

const PatternAttention& attention_for(const AttentionPattern& pattern);

/// Returns the shape's approximation, or null if the shape has exact attention.
const PatternAttention* approximation_for(const AttentionShape& shape);

// One function per pattern, and the file that defines it.

const PatternAttention& full_attention();            // pattern_attention.cpp
const PatternAttention& window_attention();          // window_attention.cpp
const PatternAttention& longformer_attention();      // window_attention.cpp
const PatternAttention& bigbird_attention();         // block_attention.cpp
const PatternAttention& chunks_attention();          // block_attention.cpp
const PatternAttention& sparse_strided_attention();  // sparse_transformer_attention.cpp
const PatternAttention& sparse_fixed_attention();    // sparse_transformer_attention.cpp
const PatternAttention& linformer_attention();       // linformer_attention.cpp
const PatternAttention& performer_attention();       // performer_attention.cpp
const PatternAttention& lsh_attention();             // lsh_attention.cpp

}  // namespace attn
