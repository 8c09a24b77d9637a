// Blocks of `stride`: the own block, and the last `summary` keys of every block (Child et al.
// 2019).
#include <algorithm>

#include "config/kinds/kind_list.h"
#include "config/kinds/pattern_keys.h"

namespace attn {
namespace {

class SparseFixedKind : public PatternKind {
 public:
  SparseFixedKind() : PatternKind(PatternType::sparse_fixed, "sparse_fixed") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    pattern.stride = required_integer(reader, "stride");
    pattern.summary = reader.integer("summary").value_or(1);
  }
  void write(const AttentionPattern& pattern, Json& json) const override {
    json["stride"] = pattern.stride;
    json["summary"] = pattern.summary;
  }
  void check(const PatternCheck& check) const override {
    check.size("stride", check.pattern.stride, 1, check.stack.positions);
    check.size("summary", check.pattern.summary, 1, check.pattern.stride);
  }

  /// A block, and the summaries of all of them.
  Index kept_steps(const AttentionPattern& pattern, Index steps) const override {
    const Index block = pattern.stride, summary = pattern.summary;
    return std::min(steps, block - summary + (steps + block - 1) / block * summary);
  }
  Index kept_place(const AttentionPattern& pattern, Index step, Index /*kept*/) const override {
    const Index block = step / pattern.stride, within = step % pattern.stride;
    return within < pattern.stride - pattern.summary ? within : block * pattern.summary + within;
  }

  KindWords words(const AttentionPattern& /*pattern*/, int /*head_dim*/) const override {
    return {"i sees j in its block of stride, or at the end of any block",
            "It gives up far words that do not stand at a block's end, because training is to "
            "gather each block there."};
  }
  AttentionPattern cut_to(int tokens) const override { return for_length(tokens); }
  AttentionPattern for_length(Index length) const override {
    AttentionPattern pattern = plain();
    pattern.stride = stride_for(length);
    return pattern;
  }
};

}  // namespace

const PatternKind& sparse_fixed_kind() {
  static const SparseFixedKind kind;
  return kind;
}

}  // namespace attn
