// Keys and values become k mixtures before any query asks (Wang et al. 2020).
#include <algorithm>

#include "base/at.h"
#include "config/patterns/pattern_list.h"
#include "config/patterns/pattern_keys.h"

namespace attn {
namespace {

class LinformerPattern : public SparsePattern {
 public:
  LinformerPattern() : SparsePattern(PatternType::linformer, "linformer") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    pattern.rank = read_required_integer(reader, "k");
  }
  void write(const AttentionPattern& pattern, Json& json) const override {
    json["k"] = pattern.rank;
  }
  void check(const PatternCheck& check) const override {
    check.size("k", check.pattern.rank, 1, check.stack.positions);
  }

  bool is_encoder_only() const override { return true; }
  bool approximates() const override { return true; }
  /// E and F [P, k].
  std::vector<ExtraParameter> extra_parameters(const SelfAttentionDims& stack) const override {
    const std::uint64_t rank = to_size(std::max(stack.pattern.rank, 0));
    return {{"self_attn.proj_k", ParameterPart::self_key_projection, ParameterRole::low_rank, stack.max_positions,
             rank},
            {"self_attn.proj_v", ParameterPart::self_value_projection, ParameterRole::low_rank, stack.max_positions,
             rank}};
  }
  Index multiply_adds(const AttentionPattern& pattern, Index length,
                      int /*head_dim*/) const override {
    return 4 * length * pattern.rank;
  }

  PatternDescription description(const AttentionPattern& /*pattern*/, int /*head_dim*/) const override {
    return {"softmax(Q · (Eᵀ · K)ᵀ / √head_dim) · Fᵀ · V",
            "It gives up telling the words of a mixture apart: keys and values become k rows "
            "before any query asks (here, means of neighbours; a trained E chooses better)."};
  }
  AttentionPattern example_for(int tokens) const override {
    AttentionPattern pattern = default_pattern();
    pattern.rank = std::min(quarter_of_tokens(tokens), std::max(1, tokens));
    return pattern;
  }
  AttentionPattern benchmark_for(Index /*length*/) const override {
    AttentionPattern pattern = default_pattern();
    pattern.rank = 256;
    return pattern;
  }
};

}  // namespace

const SparsePattern& linformer_pattern() {
  static const LinformerPattern kind;
  return kind;
}

}  // namespace attn
