#include "nn/attention/key_ranges.h"

#include "config/patterns/sparse_pattern.h"
#include "nn/attention/patterns/pattern_attention.h"
#include "nn/attention/patterns/tile_maker.h"

namespace attn {

bool is_dense(const AttentionPattern& pattern, Index keys) {
  return sparse_pattern(pattern).is_dense(pattern, keys);
}

std::vector<QueryTile> query_tiles(const AttentionPattern& pattern, Index layer, Index head,
                                   const PatternRows& rows) {
  QueryTileBuilder builder(pattern, layer, head, rows);
  if (is_dense(pattern, rows.keys)) {
    builder.add_full();
  } else {
    attention_for(pattern).make_tiles(builder);
  }
  return builder.take();
}

}  // namespace attn
