// Near keys, and every key a whole number of strides away (Child et al. 2019).
#include "config/patterns/pattern_list.h"
#include "config/patterns/pattern_keys.h"

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

  PatternDescription description(const AttentionPattern& /*pattern*/, int /*head_dim*/) const override {
    return {"i sees j where |i − j| ≤ stride, or stride divides i − j",
            "It gives up the far words between the strides: right for the rows of an image, while "
            "in a sentence every stride-th word is there by accident."};
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

}  // namespace attn
