// Every query sees every key, or in a decoder every earlier one (Vaswani et al. 2017).
#include "config/kinds/kind_list.h"

namespace attn {
namespace {

class FullKind : public PatternKind {
 public:
  FullKind() : PatternKind(PatternType::full, "full") {}

  bool leaves_none_out(const AttentionPattern& /*pattern*/, Index /*keys*/) const override {
    return true;
  }
  KindWords words(const AttentionPattern& /*pattern*/, int /*head_dim*/) const override {
    return {"i sees every j", "It gives up nothing."};
  }
};

}  // namespace

const PatternKind& full_kind() {
  static const FullKind kind;
  return kind;
}

}  // namespace attn
