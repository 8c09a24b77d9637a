// Every query sees every key, or in a decoder every earlier one (Vaswani et al. 2017).
#include "config/patterns/pattern_list.h"

namespace attn {
namespace {

class FullPattern : public SparsePattern {
 public:
  FullPattern() : SparsePattern(PatternType::full, "full") {}

  bool is_dense(const AttentionPattern& /*pattern*/, Index /*keys*/) const override {
    return true;
  }
  PatternDescription description(const AttentionPattern& /*pattern*/, int /*head_dim*/) const override {
    return {"i sees every j", "It gives up nothing."};
  }
};

}  // namespace

const SparsePattern& full_pattern() {
  static const FullPattern kind;
  return kind;
}

}  // namespace attn
