#include "view/svg/attention_costs_svg.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "view/svg/attention_patterns_svg.h"

namespace attn {

std::string attention_costs_svg(const AttentionCosts& costs) {
  std::vector<CostGrowthLine> lines;
  for (CostCurve& curve : cost_curves(costs.measured)) lines.push_back({std::move(curve), ""});
  for (const CostGrowth& fit : costs.growth) {
    for (CostGrowthLine& line : lines) {
      if (line.curve.kind != fit.kind) continue;
      line.exponents =
          fmt::format("time N^{:.2f}, memory N^{:.2f}", fit.time_exponent, fit.memory_exponent);
    }
  }
  return cost_growth_svg(fmt::format("Attention alone{}{}: {}", costs.causal ? ", causal" : "",
                                costs.backward ? ", both ways" : "", heads_and_threads(costs)),
                    lines);
}

}  // namespace attn
