#include "nn/attention/patterns/pattern_attention.h"

#include <array>
#include <stdexcept>

#include "base/at.h"
#include "nn/attention/key_ranges.h"

namespace attn {

void PatternAttention::make_tiles(QueryTileBuilder& /*maker*/) const {
  throw std::logic_error("no list of keys says what this kind of attention computes");
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

const PatternAttention& attention_for(const AttentionShape& shape) {
  return shape.pattern != nullptr ? attention_for(*shape.pattern) : full_attention();
}

// Every query sees every key, or in a decoder every earlier one: PatternAttention's own formula.
namespace {

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
