#include "view/page/map_shape.h"

#include <algorithm>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "record/attention_maps.h"

namespace attn {
namespace {

/// Runs [first, count, what, …] of a row of `cells`, rising and apart; `what` below `whats`.
/// Returns how many cells they are.
std::size_t check_runs(const JsonPlace& runs, std::size_t cells, std::size_t whats) {
  runs.array();
  if (runs.size() % 3 != 0) {
    runs.fail(fmt::format("{} numbers", runs.size()), "three a run");
  }
  std::size_t end = 0, sum = 0;
  for (std::size_t i = 0; i < runs.size(); i += 3) {
    const std::uint64_t first = runs[i].whole(), count = runs[i + 1].whole();
    if (first < end || first >= cells) {
      runs[i].fail(fmt::format("{}", first), fmt::format("{} to {}", end, cells - 1));
    }
    if (count == 0 || count > cells - first) {
      runs[i + 1].fail(fmt::format("{}", count), fmt::format("1 to {}", cells - first));
    }
    const std::uint64_t what = runs[i + 2].whole();
    if (what >= whats) {
      runs[i + 2].fail(fmt::format("{}", what), fmt::format("a number below {}", whats));
    }
    end = first + count;
    sum += count;
  }
  return sum;
}

/// Of each pattern how many cells each row has.
std::vector<std::vector<std::size_t>> check_patterns(const JsonPlace& seen, const MapShape& shape) {
  const JsonPlace reasons = seen["reasons"];
  for (std::size_t i = 0; i < reasons.array().size(); ++i) reasons[i].text();
  const JsonPlace patterns = seen["patterns"];
  std::vector<std::vector<std::size_t>> cells(patterns.array().size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const JsonPlace rows = patterns[i];
    rows.array(shape.queries, "rows, one a query");
    for (std::size_t q = 0; q < shape.queries; ++q) {
      cells[i].push_back(check_runs(rows[q], shape.keys, reasons.size()));
    }
  }
  return cells;
}

}  // namespace

void check_numbers(const JsonPlace& row, std::size_t width, std::string_view of) {
  row.array(width, of);
  for (std::size_t i = 0; i < width; ++i) row[i].number();
}

void check_maps(const JsonPlace& maps, const MapShape& shape) {
  check_heads_of(maps, shape, [&](const JsonPlace& map) {
    map.array(shape.queries, "rows, one a query");
    for (std::size_t q = 0; q < shape.queries; ++q) {
      check_numbers(map[q], shape.keys, "weights, one a key");
    }
  });
}

void check_seen(const JsonPlace& seen, const JsonPlace& maps, const MapShape& shape) {
  const std::vector<std::vector<std::size_t>> cells = check_patterns(seen, shape);
  check_heads_of(seen["of"], shape, [&](const JsonPlace& pattern) {
    const std::uint64_t number = pattern.whole();
    if (number >= cells.size()) {
      pattern.fail(fmt::format("{}", number), fmt::format("a number below {}", cells.size()));
    }
  });
  if (const auto own = seen.find("own_global")) {
    check_heads_of(*own, shape, [&](const JsonPlace& row) {
      check_numbers(row, shape.queries, "weights, one a query");
    });
  }
  if (const auto reach = seen.find("reach")) {
    reach->array(shape.queries, "rows, one a query");
    for (std::size_t q = 0; q < shape.queries; ++q) {
      check_runs((*reach)[q], shape.keys, shape.layers + 1);
    }
  }
  if (std::max(shape.queries, shape.keys) <= to_size(most_dense_tokens)) {
    check_maps(maps, shape);
    return;
  }
  maps.array(0, "layers: above 1024 tokens seen.weights has the weights");
  const JsonPlace weights = seen["weights"];
  weights.array(shape.layers, "layers");
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    const JsonPlace heads = weights[layer];
    heads.array(shape.heads, "heads");
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const JsonPlace rows = heads[head];
      rows.array(shape.queries, "rows, one a query");
      const auto pattern = seen.value()["of"][layer][head].get<std::size_t>();
      for (std::size_t q = 0; q < shape.queries; ++q) {
        check_numbers(rows[q], cells[pattern][q], "weights, one a computed cell");
      }
    }
  }
}

}  // namespace attn
