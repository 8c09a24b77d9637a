#include "nn/attention/key_ranges.h"

#include "config/kinds/pattern_kind.h"
#include "nn/attention/kinds/attention_method.h"
#include "nn/attention/kinds/tile_maker.h"

namespace attn {

bool leaves_none_out(const AttentionPattern& pattern, Index keys) {
  return kind_of(pattern).leaves_none_out(pattern, keys);
}

std::vector<QueryTile> query_tiles(const AttentionPattern& pattern, Index layer, Index head,
                                   const PatternRows& rows) {
  TileMaker maker(pattern, layer, head, rows);
  if (leaves_none_out(pattern, rows.keys)) {
    maker.add_full();
  } else {
    method_of(pattern).make_tiles(maker);
  }
  return maker.take();
}

}  // namespace attn
