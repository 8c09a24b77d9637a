// Near keys, and every key a whole number of strides away (Child et al. 2019).
#include "config/kinds/kind_list.h"
#include "config/kinds/pattern_keys.h"

namespace attn {
namespace {

class SparseStridedKind : public PatternKind {
 public:
  SparseStridedKind() : PatternKind(PatternType::sparse_strided, "sparse_strided") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    pattern.stride = required_integer(reader, "stride");
  }
  void write(const AttentionPattern& pattern, Json& json) const override {
    json["stride"] = pattern.stride;
  }
  void check(const PatternCheck& check) const override {
    check.size("stride", check.pattern.stride, 1, check.stack.positions);
  }

  KindWords words(const AttentionPattern& /*pattern*/, int /*head_dim*/) const override {
    return {"i sees j where |i − j| ≤ stride, or stride divides i − j",
            "It gives up the far words between the strides: right for the rows of an image, while "
            "in a sentence every stride-th word is there by accident."};
  }
  AttentionPattern cut_to(int tokens) const override { return for_length(tokens); }
  AttentionPattern for_length(Index length) const override {
    AttentionPattern pattern = plain();
    pattern.stride = stride_for(length);
    return pattern;
  }
};

}  // namespace

const PatternKind& sparse_strided_kind() {
  static const SparseStridedKind kind;
  return kind;
}

}  // namespace attn
