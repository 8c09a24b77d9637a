// Queries see the keys near them: window and longformer (Beltagy et al. 2020).
#include <algorithm>

#include "config/patterns/sparse_pattern.h"

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

  PatternDescription description(const AttentionPattern& /*pattern*/,
                                 int /*head_dim*/) const override {
    return {"i sees j where |i − j| ≤ window / 2",
            "It gives up every word that is farther away, because most heads look at near words; "
            "if the word that matters is far away, only more layers reach it."};
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

// Windows, plus global tokens that see all tokens and are seen by all (Beltagy et al. 2020).
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

  PatternDescription description(const AttentionPattern& /*pattern*/,
                                 int /*head_dim*/) const override {
    return {"i sees j where |i − j| ≤ window / 2, or i or j is global",
            "It gives up far words except the global ones: information from far away comes through "
            "their rows, as one mixture of the whole sentence."};
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
