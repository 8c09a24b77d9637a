// Every query sees every key, or in a decoder every earlier one: AttentionMethod's own formula.
#include "nn/attention/kinds/method_list.h"
#include "nn/attention/kinds/tile_maker.h"

namespace attn {
namespace {

class FullMethod : public AttentionMethod {
 public:
  void make_tiles(TileMaker& maker) const override { maker.add_full(); }
};

}  // namespace

const AttentionMethod& full_method() {
  static const FullMethod method;
  return method;
}

}  // namespace attn
