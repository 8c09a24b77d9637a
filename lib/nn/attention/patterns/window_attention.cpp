// The patterns window, |i − j| ≤ window / 2, and longformer, which adds global tokens (Beltagy et
// al. 2020).
#include "nn/attention/key_ranges.h"
#include "nn/attention/patterns/pattern_attention.h"

namespace attn {
namespace {

class WindowAttention : public PatternAttention {
 public:
  void make_tiles(QueryTileBuilder& builder) const override {
    builder.forget_globals();
    const Index reach = builder.pattern().window(builder.layer()) / 2;
    builder.for_each_tile(kBandTile, 0, 0, [&](QueryTile& tile) {
      tile.ranges.push_back(builder.window(tile, reach));
    });
  }
};

}  // namespace

const PatternAttention& window_attention() {
  static const WindowAttention method;
  return method;
}

// Tokens see |i − j| ≤ window / 2. Global tokens see all tokens and are seen by all (Beltagy et
// al. 2020).
namespace {

class LongformerAttention : public PatternAttention {
 public:
  void make_tiles(QueryTileBuilder& builder) const override {
    const Index reach = builder.pattern().window(builder.layer()) / 2;
    builder.for_each_tile(kBandTile, 0, 0, [&](QueryTile& tile) {
      builder.add_beside_globals(tile, builder.window(tile, reach));
    });
  }
};

}  // namespace

const PatternAttention& longformer_attention() {
  static const LongformerAttention method;
  return method;
}

}  // namespace attn
