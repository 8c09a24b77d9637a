#include "view/data/attention_costs_csv.h"

#include <fmt/format.h>

namespace attn {

std::string attention_costs_csv(const AttentionCosts& costs) {
  std::string csv =
      "kind,length,causal,forward_seconds,backward_seconds,multiply_adds,peak_bytes\n";
  for (const AttentionCost& cost : costs.measured) {
    csv += fmt::format("{},{},{},{},{},{},{}\n", cost.kind, cost.length, costs.causal,
                       cost.forward_seconds,
                       costs.backward ? fmt::format("{}", cost.backward_seconds) : "",
                       cost.multiply_adds, cost.peak_bytes);
  }
  return csv;
}

}  // namespace attn
