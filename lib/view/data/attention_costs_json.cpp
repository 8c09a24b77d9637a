#include "view/data/attention_costs_json.h"

namespace attn {

Json attention_costs_json(const AttentionCosts& costs) {
  Json measured = Json::array();
  for (const AttentionCost& cost : costs.measured) {
    measured.push_back({{"kind", cost.kind},
                        {"length", cost.length},
                        {"causal", costs.causal},
                        {"forward_seconds", cost.forward_seconds},
                        {"backward_seconds", costs.backward ? Json(cost.backward_seconds) : Json()},
                        {"multiply_adds", cost.multiply_adds},
                        {"peak_bytes", cost.peak_bytes}});
  }
  Json growth = Json::array();
  for (const CostGrowth& kind : costs.growth) {
    growth.push_back({{"kind", kind.kind},
                      {"time_exponent", kind.time_exponent},
                      {"memory_exponent", kind.memory_exponent},
                      {"overtakes", kind.overtakes ? Json(*kind.overtakes) : Json()}});
  }
  return {{"attention", std::move(measured)}, {"growth", std::move(growth)}};
}

}  // namespace attn
