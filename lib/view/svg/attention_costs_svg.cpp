#include "view/svg/attention_costs_svg.h"

#include <fmt/format.h>

#include <vector>

#include "view/svg/growth_svg.h"

namespace attn {

std::string attention_costs_svg(const AttentionCosts& costs) {
  std::vector<GrowthLine> lines;
  std::vector<std::string> dashed;
  for (const AttentionCost& cost : costs.measured) {
    if (lines.empty() || lines.back().kind != cost.kind) {
      lines.push_back({cost.kind, {}, {}, {}, ""});
      if (cost.approximate) dashed.push_back(cost.kind);
    }
    lines.back().lengths.push_back(static_cast<double>(cost.length));
    lines.back().seconds.push_back(cost.forward_seconds + cost.backward_seconds);
    lines.back().bytes.push_back(static_cast<double>(cost.peak_bytes));
  }
  for (const CostGrowth& fit : costs.growth) {
    for (GrowthLine& line : lines) {
      if (line.kind != fit.kind) continue;
      line.exponents =
          fmt::format("time N^{:.2f}, memory N^{:.2f}", fit.time_exponent, fit.memory_exponent);
    }
  }
  return growth_svg(fmt::format("Attention alone{}{}: {} head{} of {}, {} thread{}",
                                costs.causal ? ", causal" : "", costs.backward ? ", both ways" : "",
                                costs.heads, costs.heads == 1 ? "" : "s", costs.head_dim,
                                costs.threads, costs.threads == 1 ? "" : "s"),
                    lines, dashed);
}

}  // namespace attn
