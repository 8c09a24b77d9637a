// Queries see the keys that are near (Beltagy et al. 2020).
#include <algorithm>

#include "config/patterns/pattern_list.h"
#include "config/patterns/pattern_keys.h"

namespace attn {
namespace {

class WindowPattern : public SparsePattern {
 public:
  WindowPattern() : SparsePattern(PatternType::window, "window") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    read_windows(reader, pattern);
  }
  void write(const AttentionPattern& pattern, Json& json) const override {
    json["window"] = windows_json(pattern);
  }
  void check(const PatternCheck& check) const override { check.windows(); }

  Index cached_steps(const AttentionPattern& pattern, Index steps) const override {
    const int widest = *std::max_element(pattern.windows.begin(), pattern.windows.end());
    return std::min(steps, Index{widest} / 2 + 1);
  }

  PatternDescription description(const AttentionPattern& /*pattern*/, int /*head_dim*/) const override {
    return {"i sees j where |i − j| ≤ window / 2",
            "It gives up every word that is farther away, because most heads look near; where the "
            "word that matters is far, only more layers reach it."};
  }
  AttentionPattern example_for(int tokens) const override {
    AttentionPattern pattern = default_pattern();
    pattern.windows = {2 * std::max(1, tokens / 8)};
    return pattern;
  }
  AttentionPattern benchmark_for(Index /*length*/) const override {
    AttentionPattern pattern = default_pattern();
    pattern.windows = {512};
    return pattern;
  }
};

}  // namespace

const SparsePattern& window_pattern() {
  static const WindowPattern kind;
  return kind;
}

}  // namespace attn
