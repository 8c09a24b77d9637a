// Blocks of stride: the own block, and the last `summary` keys of every block (Child et al. 2019).
#include "nn/attention/kinds/method_list.h"
#include "nn/attention/kinds/tile_maker.h"

namespace attn {
namespace {

class SparseFixedMethod : public AttentionMethod {
 public:
  void make_tiles(TileMaker& maker) const override {
    maker.forget_globals();
    const Index keys = maker.rows().keys;
    const Index size = maker.pattern().stride;
    const Index summary = maker.pattern().summary;
    maker.for_each_tile(kSharedTile, size, 0, [&](QueryTile& tile) {
      const Index own = tile.first / size;
      KeyRange block = maker.all_keys(Reason::block);
      block.first = own * size;
      block.end = std::min(keys, (own + 1) * size);
      block.own = tile.first;
      block.ahead = maker.ahead(KeyRange::kFar);
      KeyRange before;
      before.list = {size - summary, summary, size};
      before.end = own * summary;
      before.reason = Reason::stride;
      KeyRange after = before;
      after.first = (own + 1) * summary;
      after.end = keys / size * summary + std::max<Index>(0, keys % size - (size - summary));
      tile.ranges.push_back(before);
      tile.ranges.push_back(block);
      if (!maker.rows().causal) tile.ranges.push_back(after);
    });
  }
};

}  // namespace

const AttentionMethod& sparse_fixed_method() {
  static const SparseFixedMethod method;
  return method;
}

}  // namespace attn
