// The patterns sparse_strided and sparse_fixed (Child et al. 2019).
#include "nn/attention/key_ranges.h"
#include "nn/attention/patterns/pattern_attention.h"

namespace attn {
namespace {

/// The positions residue + n · stride for n in [first, end); `count` of them exist in all.
struct Residue {
  Index residue;
  Index first;
  Index end;
  Index count;
};

/// Returns the tile of the queries at these positions, with the keys of the same residue.
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
    // With two strides of keys or fewer, every key one stride away is in the window.
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

// Blocks of size stride: each query sees its own block and the last `summary` keys of every block
// (Child et al. 2019).
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
