#include "config/kinds/pattern_kind.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/at.h"
#include "config/kinds/kind_list.h"

namespace attn {

int KindStack::head_dim() const {
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  return to_int(std::clamp<std::uint64_t>(heads == 0 ? 1 : inner / heads, 1, kMost));
}

void PatternKind::read(KeyReader& /*reader*/, AttentionPattern& /*pattern*/) const {}

void PatternKind::write(const AttentionPattern& /*pattern*/, Json& /*json*/) const {}

void PatternKind::check(const PatternCheck& /*check*/) const {}

bool PatternKind::leaves_none_out(const AttentionPattern& /*pattern*/, Index /*keys*/) const {
  return approximates();
}

std::vector<ExtraParameter> PatternKind::extra_parameters(const KindStack& /*stack*/) const {
  return {};
}

Index PatternKind::kept_steps(const AttentionPattern& /*pattern*/, Index steps) const {
  return steps;
}

Index PatternKind::kept_place(const AttentionPattern& /*pattern*/, Index step, Index kept) const {
  return step % kept;
}

Index PatternKind::multiply_adds(const AttentionPattern& /*pattern*/, Index /*length*/,
                                 int /*head_dim*/) const {
  return 0;
}

AttentionPattern PatternKind::plain() const {
  AttentionPattern pattern;
  pattern.type = type_;
  return pattern;
}

AttentionPattern PatternKind::cut_to(int /*tokens*/) const {
  return plain();
}

AttentionPattern PatternKind::for_length(Index /*length*/) const {
  return plain();
}

std::span<const PatternKind* const> all_kinds() {
  static const std::array<const PatternKind*, 10> kinds = {
      &full_kind(),           &window_kind(),       &longformer_kind(), &bigbird_kind(),
      &sparse_strided_kind(), &sparse_fixed_kind(), &chunks_kind(),     &linformer_kind(),
      &performer_kind(),      &lsh_kind()};
  return kinds;
}

const PatternKind& kind_of(PatternType type) {
  return *at(all_kinds(), type);
}

}  // namespace attn
