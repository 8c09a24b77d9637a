// Blocks of stride: the own block, and the last `summary` keys of every block (Child et al. 2019).
#include "nn/attention/patterns/attention_list.h"
#include "nn/attention/patterns/tile_maker.h"

namespace attn {
namespace {

class SparseFixedAttention : public PatternAttention {
 public:
  void make_tiles(QueryTileBuilder& builder) const override {
    builder.forget_globals();
    const Index keys = builder.rows().keys;
    const Index size = builder.pattern().stride;
    const Index summary = builder.pattern().summary;
    builder.for_each_tile(kSharedTile, size, 0, [&](QueryTile& tile) {
      const Index own = tile.first / size;
      KeyRange block = builder.all_keys(PatternReason::block);
      block.first = own * size;
      block.end = std::min(keys, (own + 1) * size);
      block.own = tile.first;
      block.ahead = builder.ahead(KeyRange::kFar);
      KeyRange before;
      before.list = {size - summary, summary, size};
      before.end = own * summary;
      before.reason = PatternReason::stride;
      KeyRange after = before;
      after.first = (own + 1) * summary;
      after.end = keys / size * summary + std::max<Index>(0, keys % size - (size - summary));
      tile.ranges.push_back(before);
      tile.ranges.push_back(block);
      if (!builder.rows().causal) tile.ranges.push_back(after);
    });
  }
};

}  // namespace

const PatternAttention& sparse_fixed_attention() {
  static const SparseFixedAttention method;
  return method;
}

}  // namespace attn
