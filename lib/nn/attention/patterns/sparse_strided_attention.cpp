// |i − j| ≤ stride, and j ≡ i modulo stride (Child et al. 2019).
#include "nn/attention/patterns/attention_list.h"
#include "nn/attention/patterns/tile_maker.h"

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
QueryTile residue_tile(const QueryTileBuilder& builder, const Residue& places) {
  const Index stride = builder.pattern().stride;
  QueryTile tile;
  tile.first = places.residue + places.first * stride;
  tile.count = places.end - places.first;
  tile.step = stride;
  tile.begins = false;
  KeyRange range;
  range.list = {places.residue, 1, stride};
  range.own = places.first;
  range.ahead = builder.ahead(KeyRange::kFar);
  range.end = builder.rows().causal ? places.end : places.count;
  range.hole = 1;
  range.reason = PatternReason::stride;
  tile.ranges.push_back(range);
  return tile;
}

class SparseStridedAttention : public PatternAttention {
 public:
  void make_tiles(QueryTileBuilder& builder) const override {
    builder.forget_globals();
    const Index stride = builder.pattern().stride;
    // With two strides of keys all that are a stride away are in the window.
    const bool far = builder.rows().keys > 2 * stride;
    builder.for_each_tile(kBandTile, 0, 0, [&](QueryTile& tile) {
      tile.ends = !far;
      tile.ranges.push_back(builder.window(tile, stride));
    });
    if (!far) return;
    for (Index residue = 0; residue < stride; ++residue) {
      const Index from = builder.first_query() - residue;
      const Index first = from <= 0 ? 0 : (from + stride - 1) / stride;
      const Index count = (builder.rows().keys - residue + stride - 1) / stride;
      for (Index n = first; n < count; n += kSharedTile) {
        builder.add(residue_tile(builder, {residue, n, std::min(n + kSharedTile, count), count}));
      }
    }
  }
};

}  // namespace

const PatternAttention& sparse_strided_attention() {
  static const SparseStridedAttention method;
  return method;
}

}  // namespace attn
