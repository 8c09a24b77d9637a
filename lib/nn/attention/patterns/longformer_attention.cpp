// |i − j| ≤ window / 2, and global tokens see all and are seen by all (Beltagy et al. 2020).
#include "nn/attention/patterns/attention_list.h"
#include "nn/attention/patterns/tile_maker.h"

namespace attn {
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
