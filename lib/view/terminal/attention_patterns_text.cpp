#include "view/terminal/attention_patterns_text.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "view/terminal/styled_text.h"
#include "view/terminal/table.h"

namespace attn {
namespace {

constexpr int label_columns = 7;  // "16,384 "
constexpr int max_side = 48;

/// Returns 1 to 9, then a to z, then +.
char layer_mark(int layer) {
  if (layer < 10) return static_cast<char>('0' + layer);
  return layer < 36 ? static_cast<char>('a' + (layer - 10)) : '+';
}

}  // namespace

Table receptive_field_table(const ReceptiveField& field, const std::string& title) {
  Table table{title,
              {{"layers", true},
               {"fewest tokens", true},
               {"mean", true},
               {"most", true},
               {"farthest", true}},
              {},
              {"How many tokens of the source a row is made from; the farthest is so many places "
               "away."}};
  for (std::size_t layer = 0; layer < field.after.size(); ++layer) {
    const ReceptiveFieldSize& reach = field.after[layer];
    table.rows.push_back(
        {fmt::format("{}", layer + 1), with_thousands_separators(to_size(reach.least)),
         fmt::format("{:.1f}", reach.mean), with_thousands_separators(to_size(reach.most)),
         with_thousands_separators(to_size(reach.max_distance))});
  }
  return table;
}

Table receptive_bounds_table(const std::vector<ReceptiveFieldBounds>& bounds,
                             const std::string& title) {
  Table table{
      title,
      {{"layers", true}, {"at least", true}, {"at most", true}},
      {},
      {"How many tokens of the source a row is made from. Their hashes decide which, so that "
       "no picture holds for all sentences."}};
  for (std::size_t layer = 0; layer < bounds.size(); ++layer) {
    table.rows.push_back({fmt::format("{}", layer + 1),
                          with_thousands_separators(to_size(bounds[layer].least)),
                          with_thousands_separators(to_size(bounds[layer].most))});
  }
  return table;
}

int max_receptive_blocks(const TerminalStyle& style) {
  return std::min(max_side, (std::max(style.width, min_terminal_width) - label_columns) / 2);
}

std::string receptive_field_text(const ReceptiveField& field, const TerminalStyle& style) {
  const auto layers = static_cast<float>(std::max<std::size_t>(1, field.after.size()));
  std::string out;
  for (int row = 0; row < field.side; ++row) {
    const auto first = to_size((std::int64_t{row} * field.tokens + field.side - 1) / field.side);
    out += fmt::format("{:>{}} ", with_thousands_separators(first), label_columns - 1);
    std::string line, paint;
    for (int column = 0; column < field.side; ++column) {
      const int layer = at(field.first, to_index(row) * field.side + column);
      // The shades' scale is a square root, hence the square.
      const float part = (layers - static_cast<float>(layer) + 1) / layers;
      const std::string wanted = layer == 0 ? "" : shade_escape(part * part, style.color);
      if (wanted != paint && !paint.empty()) line += "\x1b[0m";
      if (wanted != paint) line += wanted;
      paint = wanted;
      line += ' ';
      line += layer == 0 ? '-' : layer_mark(layer);
    }
    if (!paint.empty()) line += "\x1b[0m";
    out += line + "\n";
  }
  const bool never = std::find(field.first.begin(), field.first.end(), 0) != field.first.end();
  std::string says = "Rows see, columns are seen; a digit: the token is seen after so many layers";
  says += never ? ", -: after none." : ".";
  if (field.side < field.tokens) {
    says += fmt::format(" Blocks of {} tokens or so: the first of them that any sees.",
                        std::max(2, (field.tokens + field.side / 2) / field.side));
  }
  return out + wrap_words(says, std::max(style.width, min_terminal_width));
}

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
    table.rows.push_back(
        {kind.kind, power_of_n(kind.time_exponent), power_of_n(kind.memory_exponent),
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
