// Block patterns. In bigbird (Zaheer et al. 2020), the first and last block see all keys and are
// seen by all queries; the others see themselves, their neighbors and random blocks. In chunks
// (Phang et al. 2022), each block sees itself.
#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "config/patterns/sparse_pattern.h"

namespace attn {
namespace {

/// The first block, the last block and the three around the query's own are always visible.
constexpr int kAlwaysVisibleBlocks = 5;

void read_random(KeyReader& reader, AttentionPattern& pattern) {
  pattern.random_blocks = reader.integer("random_blocks").value_or(3);
  if (const std::optional<std::string> random = reader.text("random")) {
    if (*random != "seeded" && *random != "first") {
      reader.fail("random",
                  fmt::format("{} is not supported; use seeded or first", in_quotes(*random)));
    }
    pattern.random_is_seeded = *random == "seeded";
  }
  if (!pattern.random_is_seeded) return;
  if (const std::optional<int> seed = reader.integer("seed")) {
    if (*seed < 0) reader.fail("seed", fmt::format("is {}; it must be at least 0", *seed));
    pattern.seed = narrow_cast<std::uint64_t>(*seed);
  }
}

void check_random_blocks(const PatternCheck& check) {
  const AttentionPattern& pattern = check.pattern;
  const int positions = check.stack.positions;
  if (positions < kAlwaysVisibleBlocks) {
    throw InputError(
        "{}: {} positions are too few for bigbird, whose rows see {} blocks; use at "
        "least {}",
        check.where, positions, kAlwaysVisibleBlocks, kAlwaysVisibleBlocks);
  }
  const int blocks = (positions + pattern.block_size - 1) / pattern.block_size;
  if (blocks < kAlwaysVisibleBlocks) {
    throw InputError(
        "{}: {} {} does not fit: {} positions have {} blocks of it, and every row "
        "sees {}; use at most {}",
        check.where, check.written("block_size"), pattern.block_size, positions, blocks,
        kAlwaysVisibleBlocks, positions / kAlwaysVisibleBlocks);
  }
  if (pattern.random_blocks >= 0 && pattern.random_blocks <= blocks - kAlwaysVisibleBlocks) return;
  throw InputError(
      "{}: {} is {}; {} positions have {} blocks of {}, of which {} are seen "
      "anyway: use 0 to {}",
      check.where, check.written("random_blocks"), pattern.random_blocks, positions, blocks,
      pattern.block_size, kAlwaysVisibleBlocks, blocks - kAlwaysVisibleBlocks);
}

class BigBirdPattern : public SparsePattern {
 public:
  BigBirdPattern() : SparsePattern(PatternType::bigbird, "bigbird") {}

  void read(KeyReader& reader, AttentionPattern& pattern) const override {
    pattern.block_size = read_required_integer(reader, "block_size");
    read_random(reader, pattern);
  }
  void write(const AttentionPattern& pattern, Json& json) const override {
    json["block_size"] = pattern.block_size;
    json["random_blocks"] = pattern.random_blocks;
    json["random"] = pattern.random_is_seeded ? "seeded" : "first";
    if (pattern.random_is_seeded) json["seed"] = pattern.seed;
  }
  void check(const PatternCheck& check) const override {
    check.size("block_size", check.pattern.block_size, 1, check.stack.positions);
    check_random_blocks(check);
  }

  bool is_encoder_only() const override { return true; }
  bool differs_per_head() const override { return true; }
  /// The condition is that of transformers.
  bool is_dense(const AttentionPattern& pattern, Index keys) const override {
    return keys <= (kAlwaysVisibleBlocks + 2 * Index{pattern.random_blocks}) * pattern.block_size;
  }

  PatternDescription description(const AttentionPattern& /*pattern*/,
                                 int /*head_dim*/) const override {
    return {"i sees its block, its neighbours, the first, the last, and random ones",
            "It gives up all blocks that were not drawn, because a few random blocks connect any "
            "two tokens within a few layers."};
  }
  AttentionPattern example_for(int tokens) const override {
    AttentionPattern pattern = default_pattern();
    pattern.block_size = std::max(1, tokens / 12);
    pattern.random_blocks = 1;
    return pattern;
  }
  AttentionPattern benchmark_for(Index /*length*/) const override {
    AttentionPattern pattern = default_pattern();
    pattern.block_size = 64;
    pattern.random_blocks = 3;
    return pattern;
  }
};

}  // namespace

const SparsePattern& bigbird_pattern() {
  static const BigBirdPattern kind;
  return kind;
}

// Blocks that do not overlap, and global tokens. Odd layers may shift their blocks by half a block
// (Phang et al. 2022).
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

  PatternDescription description(const AttentionPattern& /*pattern*/,
                                 int /*head_dim*/) const override {
    return {"i sees j in its block, or i or j is global",
            "It gives up words behind a border, however near, because blocks that do not overlap "
            "are small ordinary matrix multiplications."};
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
