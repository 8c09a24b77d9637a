#include "record/attention_cost.h"

#include <fmt/format.h>

namespace attn {

std::vector<CostCurve> cost_curves(std::span<const AttentionCost> measured) {
  std::vector<CostCurve> curves;
  for (const AttentionCost& cost : measured) {
    if (curves.empty() || curves.back().kind != cost.kind) {
      curves.push_back({cost.kind, cost.approximate, {}, {}, {}});
    }
    CostCurve& curve = curves.back();
    curve.lengths.push_back(static_cast<double>(cost.length));
    curve.seconds.push_back(cost.forward_seconds + cost.backward_seconds);
    curve.bytes.push_back(static_cast<double>(cost.peak_bytes));
  }
  return curves;
}

std::string heads_and_threads(const AttentionCosts& costs) {
  return fmt::format("{} head{} of {}, {} thread{}", costs.heads, costs.heads == 1 ? "" : "s",
                     costs.head_dim, costs.threads, costs.threads == 1 ? "" : "s");
}

}  // namespace attn
