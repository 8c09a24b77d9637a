#include "translate/alternatives.h"

#include <algorithm>
#include <numeric>

#include "base/at.h"
#include "translate/search/logits_processor.h"

namespace attn {

Alternatives likeliest_tokens(const ConstMatrixRef& logits, std::span<const int> produced,
                              int count) {
  Alternatives found;
  found.count = std::min(count, to_int(logits.cols()));
  std::vector<int> order(to_size(logits.cols()));
  for (std::size_t t = 0; t < produced.size(); ++t) {
    const float* row = logits.data() + to_index(t) * logits.outerStride();
    const auto likelier = [row](int a, int b) {
      return row[a] > row[b] || (row[a] == row[b] && a < b);
    };
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + found.count, order.end(), likelier);
    const LogSoftmax normal = log_softmax({row, to_size(logits.cols())});
    for (int i = 0; i < found.count; ++i) {
      const int id = at(order, i);
      found.ids.push_back(id);
      found.logits.push_back(row[id]);
      found.log_probs.push_back(normal(row[id]));
    }
    const int chosen = produced[t];
    found.ranks.push_back(
        to_int(std::ranges::count_if(order, [&](int id) { return likelier(id, chosen); })));
  }
  return found;
}

}  // namespace attn
