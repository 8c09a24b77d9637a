// The two patterns of Child et al. 2019: sparse_strided and sparse_fixed.
#include <algorithm>

#include "config/patterns/sparse_pattern.h"

namespace attn {
namespace {

class SparseStridedPattern : public SparsePattern {
 public:
  SparseStridedPattern() : SparsePattern(PatternType::sparse_strided, "sparse_strided") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    pattern.stride = read_required_integer(reader, "stride");
  }
  void write(const AttentionPattern& pattern, Json& json) const override {
    json["stride"] = pattern.stride;
  }
  void check(const PatternCheck& check) const override {
    check.size("stride", check.pattern.stride, 1, check.stack.positions);
  }

  PatternDescription description(const AttentionPattern& /*pattern*/,
                                 int /*head_dim*/) const override {
    return {"i sees j where |i − j| ≤ stride, or stride divides i − j",
            "It gives up the far words between the strides: this suits the rows of an image, but "
            "in a sentence every stride-th word is there by chance."};
  }
  AttentionPattern example_for(int tokens) const override { return benchmark_for(tokens); }
  AttentionPattern benchmark_for(Index length) const override {
    AttentionPattern pattern = default_pattern();
    pattern.stride = stride_near_sqrt(length);
    return pattern;
  }
};

}  // namespace

const SparsePattern& sparse_strided_pattern() {
  static const SparseStridedPattern kind;
  return kind;
}

// Blocks of `stride`: each query sees its own block, and the last `summary` keys of every block
// (Child et al. 2019).
namespace {

class SparseFixedPattern : public SparsePattern {
 public:
  SparseFixedPattern() : SparsePattern(PatternType::sparse_fixed, "sparse_fixed") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    pattern.stride = read_required_integer(reader, "stride");
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

  /// Returns the steps to keep: a block, and the summaries of all blocks.
  Index cached_steps(const AttentionPattern& pattern, Index steps) const override {
    const Index block = pattern.stride, summary = pattern.summary;
    return std::min(steps, block - summary + (steps + block - 1) / block * summary);
  }
  Index cache_position(const AttentionPattern& pattern, Index step, Index /*kept*/) const override {
    const Index block = step / pattern.stride, within = step % pattern.stride;
    return within < pattern.stride - pattern.summary ? within : block * pattern.summary + within;
  }

  PatternDescription description(const AttentionPattern& /*pattern*/,
                                 int /*head_dim*/) const override {
    return {"i sees j in its block of stride, or at the end of any block",
            "It gives up far words that are not at a block's end, because training should collect "
            "each block's content there."};
  }
  AttentionPattern example_for(int tokens) const override { return benchmark_for(tokens); }
  AttentionPattern benchmark_for(Index length) const override {
    AttentionPattern pattern = default_pattern();
    pattern.stride = stride_near_sqrt(length);
    return pattern;
  }
};

}  // namespace

const SparsePattern& sparse_fixed_pattern() {
  static const SparseFixedPattern kind;
  return kind;
}

}  // namespace attn
