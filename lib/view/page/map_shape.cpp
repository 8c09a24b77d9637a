#include "view/page/map_shape.h"

#include <algorithm>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "record/attention_maps.h"

namespace attn {
namespace {

/// Runs [first, count, what, …] of a row of `cells`, rising and apart; `check_what` looks at each
/// `what`. Returns how many cells they are.
template <typename Check>
std::size_t check_runs_of(const JsonPlace& runs, std::size_t cells, Check&& check_what) {
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
    check_what(runs[i + 2]);
    end = first + count;
    sum += count;
  }
  return sum;
}

/// The same with numbers below `whats`.
std::size_t check_runs(const JsonPlace& runs, std::size_t cells, std::size_t whats) {
  return check_runs_of(runs, cells, [&](const JsonPlace& place) {
    const std::uint64_t what = place.whole();
    if (what >= whats) place.fail(fmt::format("{}", what), fmt::format("a number below {}", whats));
  });
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
  if (const auto biases = seen.find("bias")) {
    biases->array(cells.size(), "lists, one a pattern");
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const JsonPlace rows = (*biases)[i];
      rows.array(shape.queries, "rows, one a query");
      for (std::size_t q = 0; q < shape.queries; ++q) {
        check_runs_of(rows[q], shape.keys, [](const JsonPlace& bias) { bias.number(); });
      }
    }
  }
  if (const auto own = seen.find("own_projections")) {
    for (std::size_t i = 0; i < own->array().size(); ++i) {
      const std::uint64_t query = (*own)[i].whole();
      if (query < shape.queries) continue;
      (*own)[i].fail(fmt::format("{}", query), fmt::format("a number below {}", shape.queries));
    }
  }
  for (const OutsideKeys* keys : all_outside_keys) {
    const auto outside = seen.find(keys->json_key);
    if (!outside) continue;
    check_heads_of(*outside, shape, [&](const JsonPlace& row) {
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
