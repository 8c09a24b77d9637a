// Blocks that do not overlap, and global tokens; odd layers may move by half a block (Phang et al.
// 2022).
#include "config/patterns/pattern_list.h"
#include "config/patterns/pattern_keys.h"

namespace attn {
namespace {

class ChunksPattern : public SparsePattern {
 public:
  ChunksPattern() : SparsePattern(PatternType::chunks, "chunks") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    pattern.block_size = read_required_integer(reader, "block_size");
    pattern.shift = reader.boolean("shift").value_or(false);
    read_globals(reader, pattern);
  }
  void write(const AttentionPattern& pattern, Json& json) const override {
    json["block_size"] = pattern.block_size;
    json["global"] = pattern.globals;
    json["shift"] = pattern.shift;
  }
  void check(const PatternCheck& check) const override {
    const AttentionPattern& pattern = check.pattern;
    check.size("block_size", pattern.block_size, 1, check.stack.positions);
    if (pattern.shift) check.even("block_size", pattern.block_size, check.stack.positions);
    check.globals();
  }

  bool is_encoder_only() const override { return true; }
  bool has_global_tokens() const override { return true; }

  PatternDescription description(const AttentionPattern& /*pattern*/, int /*head_dim*/) const override {
    return {"i sees j in its block, or i or j is global",
            "It gives up what lies behind a border, however near, because blocks that do not "
            "overlap are plain small products."};
  }
  AttentionPattern example_for(int tokens) const override {
    AttentionPattern pattern = default_pattern();
    pattern.block_size = quarter_of_tokens(tokens);
    pattern.globals = {0};
    return pattern;
  }
  AttentionPattern benchmark_for(Index /*length*/) const override {
    AttentionPattern pattern = default_pattern();
    pattern.block_size = 512;
    pattern.globals = {0};
    return pattern;
  }
};

}  // namespace

const SparsePattern& chunks_pattern() {
  static const ChunksPattern kind;
  return kind;
}

}  // namespace attn
