// |i − j| ≤ stride, and j ≡ i modulo stride (Child et al. 2019).
#include "nn/attention/kinds/method_list.h"
#include "nn/attention/kinds/tile_maker.h"

namespace attn {
namespace {

/// The places residue + n · stride: of their `count` numbers n those of [first, end).
struct Residue {
  Index residue;
  Index first;
  Index end;
  Index count;
};

/// The queries of these places, and the keys of the same residue.
QueryTile residue_tile(const TileMaker& maker, const Residue& places) {
  const Index stride = maker.pattern().stride;
  QueryTile tile;
  tile.first = places.residue + places.first * stride;
  tile.count = places.end - places.first;
  tile.step = stride;
  tile.begins = false;
  KeyRange range;
  range.list = {places.residue, 1, stride};
  range.own = places.first;
  range.ahead = maker.ahead(KeyRange::kFar);
  range.end = maker.rows().causal ? places.end : places.count;
  range.hole = 1;
  range.reason = Reason::stride;
  tile.ranges.push_back(range);
  return tile;
}

class SparseStridedMethod : public AttentionMethod {
 public:
  void make_tiles(TileMaker& maker) const override {
    maker.forget_globals();
    const Index stride = maker.pattern().stride;
    // With two strides of keys all that are a stride away are in the window.
    const bool far = maker.rows().keys > 2 * stride;
    maker.for_each_tile(kBandTile, 0, 0, [&](QueryTile& tile) {
      tile.ends = !far;
      tile.ranges.push_back(maker.window(tile, stride));
    });
    if (!far) return;
    for (Index residue = 0; residue < stride; ++residue) {
      const Index from = maker.first_query() - residue;
      const Index first = from <= 0 ? 0 : (from + stride - 1) / stride;
      const Index count = (maker.rows().keys - residue + stride - 1) / stride;
      for (Index n = first; n < count; n += kSharedTile) {
        maker.add(residue_tile(maker, {residue, n, std::min(n + kSharedTile, count), count}));
      }
    }
  }
};

}  // namespace

const AttentionMethod& sparse_strided_method() {
  static const SparseStridedMethod method;
  return method;
}

}  // namespace attn
