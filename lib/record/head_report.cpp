#include "record/head_report.h"

#include <algorithm>

namespace attn {

std::vector<HeadIndex> rank_by_alignment(const SiteReport& cross) {
  std::vector<HeadIndex> heads;
  for (int layer = 0; layer < cross.layers; ++layer) {
    for (int head = 0; head < cross.heads; ++head) {
      if (cross.at({layer, head}).alignment) heads.push_back({layer, head});
    }
  }
  const auto named = [&](HeadIndex place) {
    return std::ranges::find(cross.alignment_heads, place) - cross.alignment_heads.begin();
  };
  std::stable_sort(heads.begin(), heads.end(), [&](HeadIndex a, HeadIndex b) {
    if (named(a) != named(b)) return named(a) < named(b);
    const HeadMetrics& x = cross.at(a);
    const HeadMetrics& y = cross.at(b);
    if (x.aligns_what_it_reads() != y.aligns_what_it_reads()) return y.aligns_what_it_reads();
    return *x.alignment > *y.alignment;
  });
  return heads;
}

std::vector<HeadIndex> best_heads(const SiteReport& cross) {
  std::vector<HeadIndex> best = rank_by_alignment(cross);
  std::erase_if(best, [&](HeadIndex place) {
    return cross.at(place).aligns_what_it_reads() &&
           std::ranges::find(cross.alignment_heads, place) == cross.alignment_heads.end();
  });
  if (best.size() > kHighlightedHeads) best.resize(kHighlightedHeads);
  return best;
}

}  // namespace attn
