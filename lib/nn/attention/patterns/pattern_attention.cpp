#include "nn/attention/patterns/pattern_attention.h"

#include <array>
#include <stdexcept>

#include "base/at.h"
#include "config/patterns/sparse_pattern.h"
#include "nn/attention/key_ranges.h"

namespace attn {

void PatternAttention::make_tiles(QueryTileBuilder& /*builder*/) const {
  throw std::logic_error("this sparse approximation has no list of keys");
}

void PatternAttention::attend(const AttentionShape& /*shape*/, const AttentionInput& /*input*/,
                              MatrixRef /*output*/, AttentionObserver* /*observer*/) const {
  throw std::logic_error("this pattern is computed over tiles");
}

void PatternAttention::attend_training(const AttentionShape& /*shape*/,
                                       const AttentionInput& /*input*/, MatrixRef /*output*/,
                                       SavedForBackward& /*saved*/) const {
  throw std::logic_error("this pattern is computed over tiles");
}

void PatternAttention::attend_backward(const AttentionShape& /*shape*/,
                                       const AttentionInput& /*input*/,
                                       const SavedForBackward& /*saved*/,
                                       const ConstMatrixRef& /*doutput*/,
                                       AttentionInputGradient /*gradient*/) const {
  throw std::logic_error("this pattern is computed over tiles");
}

std::unique_ptr<KvCache> PatternAttention::make_kv_cache(const KvCacheShape& shape) const {
  return make_exact_kv_cache(shape);
}

std::optional<std::uint64_t> PatternAttention::kv_cache_bytes(const KvCacheShape& shape,
                                                              Index hypotheses, Index steps) const {
  return exact_kv_cache_bytes(shape, hypotheses, steps);
}

const PatternAttention& attention_for(const AttentionPattern& pattern) {
  static const std::array<const PatternAttention*, 10> attentions = {
      &full_attention(),    &window_attention(),         &longformer_attention(),
      &bigbird_attention(), &sparse_strided_attention(), &sparse_fixed_attention(),
      &chunks_attention(),  &linformer_attention(),      &performer_attention(),
      &lsh_attention()};
  return *at(attentions, pattern.type);
}

const PatternAttention* approximation_for(const AttentionShape& shape) {
  if (shape.pattern == nullptr || !sparse_pattern(*shape.pattern).approximates()) return nullptr;
  return &attention_for(*shape.pattern);
}

namespace {

/// Every query sees every key, or in a decoder every earlier one.
class FullAttention : public PatternAttention {
 public:
  void make_tiles(QueryTileBuilder& builder) const override { builder.add_full(); }
};

}  // namespace

const PatternAttention& full_attention() {
  static const FullAttention method;
  return method;
}

}  // namespace attn
