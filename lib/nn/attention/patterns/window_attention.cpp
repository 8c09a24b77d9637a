// |i − j| ≤ window / 2 (Beltagy et al. 2020).
#include "nn/attention/patterns/attention_list.h"
#include "nn/attention/patterns/tile_maker.h"

namespace attn {
namespace {

class WindowAttention : public PatternAttention {
 public:
  void make_tiles(QueryTileBuilder& builder) const override {
    builder.forget_globals();
    const Index reach = builder.pattern().window(builder.layer()) / 2;
    builder.for_each_tile(kBandTile, 0, 0,
                        [&](QueryTile& tile) { tile.ranges.push_back(builder.window(tile, reach)); });
  }
};

}  // namespace

const PatternAttention& window_attention() {
  static const WindowAttention method;
  return method;
}

}  // namespace attn
