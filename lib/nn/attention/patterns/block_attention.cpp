// The patterns bigbird (Zaheer et al. 2020) and chunks (Phang et al. 2022), which divide the keys
// into blocks of block_size.
#include <cmath>

#include "base/random.h"
#include "nn/attention/key_ranges.h"
#include "nn/attention/patterns/pattern_attention.h"

namespace attn {
namespace {

/// Returns the random blocks of the queries in block `own`, in ascending order. Blocks that these
/// queries see anyway are never chosen.
std::vector<Index> random_blocks(const QueryTileBuilder& builder, Index own, Index blocks) {
  const AttentionPattern& pattern = builder.pattern();
  if (!pattern.random_is_seeded) return {};
  std::vector<Index> others;
  for (Index block = 1; block + 1 < blocks; ++block) {
    if (block < own - 1 || block > own + 1) others.push_back(block);
  }
  const auto place =
      narrow_cast<std::uint64_t>((builder.layer() * 65536 + builder.head()) * 1048576 + own);
  RandomGenerator random(pattern.seed, "bigbird", place);
  const Index count = std::min<Index>(pattern.random_blocks, std::ssize(others));
  for (Index k = 0; k < count; ++k) {
    const auto left = to_size(std::ssize(others) - k);
    std::swap(at(others, k), at(others, to_size(k) + random.below(left)));
  }
  others.resize(to_size(count));
  std::sort(others.begin(), others.end());
  return others;
}

class BigBirdAttention : public PatternAttention {
 public:
  void make_tiles(QueryTileBuilder& builder) const override {
    builder.forget_globals();
    const AttentionPattern& pattern = builder.pattern();
    const Index size = pattern.block_size;
    const Index blocks = (builder.rows().keys + size - 1) / size;
    builder.for_each_tile(kSharedTile, size, 0, [&](QueryTile& tile) {
      const Index own = tile.first / size;
      if (own == 0 || own == blocks - 1) {
        tile.ranges.push_back(builder.all_keys(PatternReason::global));
        return;
      }
      const auto see = [&](Index first, Index end, PatternReason reason) {
        KeyRange range = builder.all_keys(reason);
        range.first = first * size;
        range.end = std::min(builder.rows().keys, end * size);
        tile.ranges.push_back(range);
      };
      see(0, 1, PatternReason::global);
      if (!pattern.random_is_seeded) {
        tile.ranges.back().bias = std::log(1.0F + static_cast<float>(pattern.random_blocks));
      }
      see(std::max<Index>(1, own - 1), std::min(blocks - 1, own + 2), PatternReason::window);
      for (const Index block : random_blocks(builder, own, blocks)) {
        see(block, block + 1, PatternReason::random);
      }
      see(blocks - 1, blocks, PatternReason::global);
    });
  }
};

}  // namespace

const PatternAttention& bigbird_attention() {
  static const BigBirdAttention method;
  return method;
}

// Chunks of block_size: each query sees its own block and the global tokens. If shift is set, odd
// layers move their blocks by half a block (Phang et al. 2022).
namespace {

class ChunksAttention : public PatternAttention {
 public:
  void make_tiles(QueryTileBuilder& builder) const override {
    const AttentionPattern& pattern = builder.pattern();
    const Index size = pattern.block_size;
    const Index shift = pattern.shift && builder.layer() % 2 == 1 ? size / 2 : 0;
    // Blocks begin half a block early, so the first block has fewer keys.
    const Index origin = builder.rows().origin;
    builder.for_each_tile(kSharedTile, size, origin - shift, [&](QueryTile& tile) {
      const Index block = (tile.first - origin + shift) / size;
      KeyRange range = builder.all_keys(PatternReason::block);
      range.first = std::max(origin, origin - shift + block * size);
      range.end = std::min(builder.rows().keys, origin - shift + (block + 1) * size);
      builder.add_beside_globals(tile, range);
    });
  }
};

}  // namespace

const PatternAttention& chunks_attention() {
  static const ChunksAttention method;
  return method;
}

}  // namespace attn
