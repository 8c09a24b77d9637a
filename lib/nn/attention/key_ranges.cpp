#include "nn/attention/key_ranges.h"

namespace attn {

QueryTileBuilder::QueryTileBuilder(const AttentionPattern& pattern, Index layer, Index head,
                                   const PatternRows& rows)
    : pattern_(pattern), layer_(layer), head_(head), rows_(rows) {
  const auto end = std::lower_bound(rows.globals.begin(), rows.globals.end(), rows.keys);
  globals_ = rows.globals.first(to_size(end - rows.globals.begin()));
}

KeyRange QueryTileBuilder::all_keys(PatternReason reason) const {
  KeyRange range;
  range.end = rows_.keys;
  range.reason = reason;
  return range;
}

KeyRange QueryTileBuilder::global_keys() const {
  KeyRange range;
  range.list.keys = globals_.data();
  range.end = std::ssize(globals_);
  range.reason = PatternReason::global;
  return range;
}

KeyRange QueryTileBuilder::window(const QueryTile& tile, Index reach) const {
  KeyRange range;
  range.own = tile.first;
  range.back = reach;
  range.ahead = ahead(reach);
  range.first = std::max<Index>(0, tile.first - reach);
  range.end = std::min(rows_.keys, tile.first + tile.count + range.ahead);
  range.reason = PatternReason::window;
  return range;
}

Index QueryTileBuilder::same_kind_until(Index i, Index end) const {
  const bool global = is_global(i);
  const auto next = std::upper_bound(globals_.begin(), globals_.end(), i);
  if (!global) return next == globals_.end() ? end : std::min(end, *next);
  Index last = i + 1;
  while (last < end && is_global(last)) ++last;
  return last;
}

void QueryTileBuilder::add_full() {
  for (Index i = first_query(); i < rows_.keys; i += kSharedTile) {
    const Index end = std::min(i + kSharedTile, rows_.keys);
    KeyRange range = all_keys(PatternReason::full);
    if (rows_.causal) {
      range.own = i;
      range.ahead = 0;
      range.end = end;
    }
    add({i, end - i, 1, true, true, false, {range}});
  }
}

void QueryTileBuilder::add_beside_globals(QueryTile& tile, KeyRange range) const {
  if (!globals_.empty()) tile.ranges.push_back(global_keys());
  range.skip_globals = !globals_.empty();
  tile.ranges.push_back(range);
}

}  // namespace attn
