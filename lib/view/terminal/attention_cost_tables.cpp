#include "view/terminal/attention_cost_tables.h"

#include <fmt/format.h>

#include "base/at.h"
#include "base/files/files.h"
#include "view/terminal/table.h"

namespace attn {
namespace {

Table measured_table(const AttentionCosts& costs) {
  Table table{fmt::format("Attention alone, one sentence{}: {}", costs.causal ? ", causal" : "",
                          heads_and_threads(costs)),
              {{"kind"}, {"tokens", true}, {"forward", true}},
              {},
              {"Medians of several rounds. Memory is what is needed beyond queries, keys and "
               "values; multiply-adds are those of the forward pass."}};
  if (costs.backward) table.columns.push_back({"backward", true});
  table.columns.push_back({"multiply-adds", true});
  table.columns.push_back({"memory", true});
  const auto time = [](double seconds) {
    return seconds < 1e-3 ? fmt::format("{:.1f} µs", seconds * 1e6)
                          : fmt::format("{:.1f} ms", seconds * 1e3);
  };
  for (const AttentionCost& cost : costs.measured) {
    std::vector<std::string> row{cost.kind, with_thousands_separators(to_size(cost.length)),
                                 time(cost.forward_seconds)};
    if (costs.backward) row.push_back(time(cost.backward_seconds));
    row.push_back(with_thousands_separators(cost.multiply_adds));
    row.push_back(human_bytes(static_cast<double>(cost.peak_bytes)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table cost_growth_table(const AttentionCosts& costs) {
  Table table{"Growth, fitted to these lengths",
              {{"kind"}, {"time", true}, {"memory", true}, {"faster than full from", true}},
              {},
              {"Exponents of the length; tokens between measured lengths are interpolated."}};
  const auto power_of_n = [](double exponent) { return fmt::format("N^{:.2f}", exponent); };
  for (const CostGrowth& kind : costs.growth) {
    table.rows.push_back({kind.kind, power_of_n(kind.time_exponent),
                          power_of_n(kind.memory_exponent),
                          kind.overtakes ? with_thousands_separators(to_size(*kind.overtakes)) : ""});
  }
  return table;
}

}  // namespace

std::vector<Table> attention_cost_tables(const AttentionCosts& costs) {
  std::vector<Table> tables{measured_table(costs)};
  if (!costs.growth.empty()) tables.push_back(cost_growth_table(costs));
  return tables;
}

}  // namespace attn
