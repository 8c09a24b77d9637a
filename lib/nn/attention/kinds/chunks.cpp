// Blocks of block_size: the own block, and global tokens; odd layers move by half a block where
// shift is set (Phang et al. 2022).
#include "nn/attention/kinds/method_list.h"
#include "nn/attention/kinds/tile_maker.h"

namespace attn {
namespace {

class ChunksMethod : public AttentionMethod {
 public:
  void make_tiles(TileMaker& maker) const override {
    const AttentionPattern& pattern = maker.pattern();
    const Index size = pattern.block_size;
    const Index shift = pattern.shift && maker.layer() % 2 == 1 ? size / 2 : 0;
    // Blocks begin half a block early: the first one's keys are cut, not moved.
    const Index origin = maker.rows().origin;
    maker.for_each_tile(kSharedTile, size, origin - shift, [&](QueryTile& tile) {
      const Index block = (tile.first - origin + shift) / size;
      KeyRange range = maker.all_keys(Reason::block);
      range.first = std::max(origin, origin - shift + block * size);
      range.end = std::min(maker.rows().keys, origin - shift + (block + 1) * size);
      maker.add_beside_globals(tile, range);
    });
  }
};

}  // namespace

const AttentionMethod& chunks_method() {
  static const ChunksMethod method;
  return method;
}

}  // namespace attn
