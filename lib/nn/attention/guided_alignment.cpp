#include "nn/attention/guided_alignment.h"

#include <cmath>
#include <stdexcept>

#include "base/at.h"
#include "nn/attention/tiled_attention.h"

namespace attn {
namespace {

constexpr float kEpsilon = 1e-6F;

}  // namespace

double guided_alignment_loss(const AttentionShape& shape, std::span<const AttentionGroup> groups,
                             const SavedForBackward& saved, const GuidedAlignment& guided,
                             std::vector<float>& dweights) {
  const auto heads = static_cast<float>(guided.heads.size());
  double loss = 0;
  std::size_t g = 0;
  for (const TokenLink& link : guided.links) {
    while (g < groups.size() && link.query >= groups[g].first_query + groups[g].queries) ++g;
    if (g == groups.size() || link.query < groups[g].first_query || link.key >= groups[g].keys ||
        is_tiled(shape, groups[g])) {
      throw std::logic_error("a token link is outside of the attention weights that were saved");
    }
    const AttentionGroup& group = groups[g];
    const auto weight_of = [&](int head) {
      const Index row = head * group.queries + link.query - group.first_query;
      return to_size(saved.offset[g] + row * group.keys + link.key);
    };
    float mean = 0;
    for (const int head : guided.heads) mean += saved.weights.data()[weight_of(head)];
    mean = mean / heads + kEpsilon;
    loss -= static_cast<double>(guided.weight * link.weight * std::log(mean));
    const float gradient = -guided.scale * guided.weight * link.weight / (mean * heads);
    for (const int head : guided.heads) dweights[weight_of(head)] += gradient;
  }
  return loss;
}

}  // namespace attn
