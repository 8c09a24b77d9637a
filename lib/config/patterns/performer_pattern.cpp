// Softmax estimated by random features, whose sums over the keys serve all queries (Choromanski et
// al. 2021).
#include "base/at.h"
#include "base/error.h"
#include "config/patterns/pattern_list.h"
#include "config/patterns/pattern_keys.h"

namespace attn {
namespace {

class PerformerPattern : public SparsePattern {
 public:
  PerformerPattern() : SparsePattern(PatternType::performer, "performer") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    if (const std::optional<int> features = reader.integer("m")) {
      if (*features < 1) {
        reader.fail("m", fmt::format("is {}; use at least 1, or leave it out for head_dim · ln "
                                     "head_dim",
                                     *features));
      }
      pattern.features = *features;
    }
    pattern.orthogonal = reader.boolean("orthogonal").value_or(true);
  }
  void write(const AttentionPattern& pattern, Json& json) const override {
    if (pattern.features > 0) json["m"] = pattern.features;
    json["orthogonal"] = pattern.orthogonal;
  }
  void check(const PatternCheck& check) const override {
    const int features = check.pattern.features;
    if (features > 0) check.size("m", features, 1, check.stack.positions);
  }

  bool approximates() const override { return true; }
  std::vector<ExtraParameter> extra_parameters(const SelfAttentionDims& stack) const override {
    const int head_dim = stack.head_dim();
    return {{"self_attn.projection_matrix", ParameterPart::self_features, ParameterRole::features,
             to_size(stack.pattern.num_features(head_dim)), to_size(head_dim)}};
  }
  Index multiply_adds(const AttentionPattern& pattern, Index length, int head_dim) const override {
    return 4 * length * pattern.num_features(head_dim);
  }

  PatternDescription description(const AttentionPattern& pattern, int head_dim) const override {
    return {fmt::format("a_ij ∝ φ(q_i) · φ(k_j), φ of m = {} random features",
                        pattern.num_features(head_dim)),
            "It gives up exact weights: all words are seen, but each score is an estimate, and a "
            "sharp look at one word is estimated worst."};
  }
};

}  // namespace

const SparsePattern& performer_pattern() {
  static const PerformerPattern kind;
  return kind;
}

}  // namespace attn
