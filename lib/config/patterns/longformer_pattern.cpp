// Windows, and global tokens that see all and are seen by all (Beltagy et al. 2020).
#include <algorithm>

#include "config/patterns/pattern_list.h"
#include "config/patterns/pattern_keys.h"

namespace attn {
namespace {

class LongformerPattern : public SparsePattern {
 public:
  LongformerPattern() : SparsePattern(PatternType::longformer, "longformer") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    read_windows(reader, pattern);
    read_globals(reader, pattern);
  }
  void write(const AttentionPattern& pattern, Json& json) const override {
    json["window"] = windows_json(pattern);
    json["global"] = pattern.globals;
  }
  void check(const PatternCheck& check) const override {
    check.windows();
    check.globals();
  }

  bool is_encoder_only() const override { return true; }
  bool has_global_tokens() const override { return true; }

  PatternDescription description(const AttentionPattern& /*pattern*/, int /*head_dim*/) const override {
    return {"i sees j where |i − j| ≤ window / 2, or i or j is global",
            "It gives up far words but for the global ones: what is far comes by way of their "
            "rows, as one mixture of the whole sentence."};
  }
  AttentionPattern example_for(int tokens) const override {
    AttentionPattern pattern = default_pattern();
    pattern.windows = {2 * std::max(1, tokens / 8)};
    pattern.globals = {0};
    return pattern;
  }
  AttentionPattern benchmark_for(Index /*length*/) const override {
    AttentionPattern pattern = default_pattern();
    pattern.windows = {512};
    pattern.globals = {0};
    return pattern;
  }
};

}  // namespace

const SparsePattern& longformer_pattern() {
  static const LongformerPattern kind;
  return kind;
}

}  // namespace attn
