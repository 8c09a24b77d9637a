#include "config/patterns/sparse_pattern.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/at.h"
#include "config/patterns/pattern_list.h"

namespace attn {

int SelfAttentionDims::head_dim() const {
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  return to_int(std::clamp<std::uint64_t>(heads == 0 ? 1 : inner_dim / heads, 1, kMost));
}

void SparsePattern::read(KeyReader& /*reader*/, AttentionPattern& /*pattern*/) const {}

void SparsePattern::write(const AttentionPattern& /*pattern*/, Json& /*json*/) const {}

void SparsePattern::check(const PatternCheck& /*check*/) const {}

bool SparsePattern::is_dense(const AttentionPattern& /*pattern*/, Index /*keys*/) const {
  return approximates();
}

std::vector<ExtraParameter> SparsePattern::extra_parameters(const SelfAttentionDims& /*stack*/) const {
  return {};
}

Index SparsePattern::cached_steps(const AttentionPattern& /*pattern*/, Index steps) const {
  return steps;
}

Index SparsePattern::cache_position(const AttentionPattern& /*pattern*/, Index step, Index kept) const {
  return step % kept;
}

Index SparsePattern::multiply_adds(const AttentionPattern& /*pattern*/, Index /*length*/,
                                 int /*head_dim*/) const {
  return 0;
}

AttentionPattern SparsePattern::default_pattern() const {
  AttentionPattern pattern;
  pattern.type = type_;
  return pattern;
}

AttentionPattern SparsePattern::example_for(int /*tokens*/) const {
  return default_pattern();
}

AttentionPattern SparsePattern::benchmark_for(Index /*length*/) const {
  return default_pattern();
}

std::span<const SparsePattern* const> all_sparse_patterns() {
  static const std::array<const SparsePattern*, 10> kinds = {
      &full_pattern(),           &window_pattern(),       &longformer_pattern(), &bigbird_pattern(),
      &sparse_strided_pattern(), &sparse_fixed_pattern(), &chunks_pattern(),     &linformer_pattern(),
      &performer_pattern(),      &lsh_pattern()};
  return kinds;
}

const SparsePattern& sparse_pattern(PatternType type) {
  return *at(all_sparse_patterns(), type);
}

}  // namespace attn
