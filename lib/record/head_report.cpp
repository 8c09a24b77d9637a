#include "record/head_report.h"

#include <algorithm>

namespace attn {

std::vector<HeadPlace> rank_by_alignment(const KindReport& cross) {
  std::vector<HeadPlace> heads;
  for (int layer = 0; layer < cross.layers; ++layer) {
    for (int head = 0; head < cross.heads; ++head) {
      if (cross.at({layer, head}).alignment) heads.push_back({layer, head});
    }
  }
  std::stable_sort(heads.begin(), heads.end(), [&](HeadPlace a, HeadPlace b) {
    const HeadFigures& x = cross.at(a);
    const HeadFigures& y = cross.at(b);
    if (x.aligns_what_it_reads() != y.aligns_what_it_reads()) return y.aligns_what_it_reads();
    return *x.alignment > *y.alignment;
  });
  return heads;
}

std::vector<HeadPlace> best_heads(const KindReport& cross) {
  std::vector<HeadPlace> best = rank_by_alignment(cross);
  std::erase_if(best, [&](HeadPlace place) { return cross.at(place).aligns_what_it_reads(); });
  if (best.size() > kMarkedHeads) best.resize(kMarkedHeads);
  return best;
}

}  // namespace attn
