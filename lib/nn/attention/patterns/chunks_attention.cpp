// Blocks of block_size: the own block, and global tokens; odd layers move by half a block where
// shift is set (Phang et al. 2022).
#include "nn/attention/patterns/attention_list.h"
#include "nn/attention/patterns/tile_maker.h"

namespace attn {
namespace {

class ChunksAttention : public PatternAttention {
 public:
  void make_tiles(QueryTileBuilder& builder) const override {
    const AttentionPattern& pattern = builder.pattern();
    const Index size = pattern.block_size;
    const Index shift = pattern.shift && builder.layer() % 2 == 1 ? size / 2 : 0;
    // Blocks begin half a block early: the first one's keys are cut, not moved.
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
