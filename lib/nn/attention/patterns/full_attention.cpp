// Every query sees every key, or in a decoder every earlier one: PatternAttention's own formula.
#include "nn/attention/patterns/attention_list.h"
#include "nn/attention/patterns/tile_maker.h"

namespace attn {
namespace {

class FullAttention : public PatternAttention {
 public:
  void make_tiles(QueryTileBuilder& builder) const override { builder.add_full(); }
};

}  // namespace

const PatternAttention& full_attention() {
  static const FullAttention method;
  return method;
}

}  // namespace attn
