// |i − j| ≤ window / 2 (Beltagy et al. 2020).
#include "nn/attention/kinds/method_list.h"
#include "nn/attention/kinds/tile_maker.h"

namespace attn {
namespace {

class WindowMethod : public AttentionMethod {
 public:
  void make_tiles(TileMaker& maker) const override {
    maker.forget_globals();
    const Index reach = maker.pattern().window(maker.layer()) / 2;
    maker.for_each_tile(kBandTile, 0, 0,
                        [&](QueryTile& tile) { tile.ranges.push_back(maker.window(tile, reach)); });
  }
};

}  // namespace

const AttentionMethod& window_method() {
  static const WindowMethod method;
  return method;
}

}  // namespace attn
