// |i − j| ≤ window / 2, and global tokens see all and are seen by all (Beltagy et al. 2020).
#include "nn/attention/kinds/method_list.h"
#include "nn/attention/kinds/tile_maker.h"

namespace attn {
namespace {

class LongformerMethod : public AttentionMethod {
 public:
  void make_tiles(TileMaker& maker) const override {
    const Index reach = maker.pattern().window(maker.layer()) / 2;
    maker.for_each_tile(kBandTile, 0, 0, [&](QueryTile& tile) {
      maker.add_beside_globals(tile, maker.window(tile, reach));
    });
  }
};

}  // namespace

const AttentionMethod& longformer_method() {
  static const LongformerMethod method;
  return method;
}

}  // namespace attn
