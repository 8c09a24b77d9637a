#include "record/json/maps_json.h"

#include <algorithm>

#include "base/at.h"
#include "record/json/json_parts.h"
#include "record/receptive_field.h"

namespace attn {
namespace {

/// The reasons that occur, in the order of Reason.
std::vector<PatternReason> reasons_of(const PatternMaps& seen) {
  std::vector<PatternReason> reasons;
  for (const PatternCells& pattern : seen.patterns) {
    for (const CellRun& run : pattern.runs) {
      if (std::find(reasons.begin(), reasons.end(), run.reason) == reasons.end()) {
        reasons.push_back(run.reason);
      }
    }
  }
  std::sort(reasons.begin(), reasons.end());
  return reasons;
}

/// [first,count,what,…] a query: the runs of a pattern, where `what(run)` is something.
template <typename What>
void write_runs(JsonWriter& json, const PatternCells& pattern, What&& what) {
  json.array_of(to_int(pattern.rows.size()) - 1, [&](int query) {
    json.array([&] {
      for (const CellRun& run : pattern.row(query)) {
        const auto of_run = what(run);
        if (!of_run) continue;
        json.value(run.first);
        json.value(run.end - run.first);
        json.value(*of_run);
      }
    });
  });
}

std::optional<float> bias_of(const CellRun& run) {
  return run.bias != 0 ? std::optional(run.bias) : std::nullopt;
}

bool has_bias(const PatternCells& pattern) {
  return std::any_of(pattern.runs.begin(), pattern.runs.end(), bias_of);
}

/// [first,count,layers,…] a query.
void write_reach(JsonWriter& json, const ReceptiveField& field) {
  const auto side = to_size(field.side);
  json.array_of(field.side, [&](int row) {
    const auto cells = std::span(field.first).subspan(to_size(row) * side, side);
    json.array([&] {
      for (std::size_t first = 0, end = 0; first < cells.size(); first = end) {
        while (end < cells.size() && cells[end] == cells[first]) ++end;
        if (cells[first] == 0) continue;
        json.value(first);
        json.value(end - first);
        json.value(cells[first]);
      }
    });
  });
}

/// The computed cells of one head, a row a query.
void write_cells(JsonWriter& json, const AttentionMaps& maps, int layer, int head) {
  std::span<const float> rest = maps.cells(layer, head);
  json.array_of(maps.queries, [&](int query) {
    std::size_t cells = 0;
    for (const CellRun& run : maps.pattern_cells_of(layer, head)->row(query)) {
      cells += to_size(run.end - run.first);
    }
    json.value(rest.first(cells));
    rest = rest.subspan(cells);
  });
}

void write_patterns(JsonWriter& json, const PatternMaps& seen) {
  const std::vector<PatternReason> reasons = reasons_of(seen);
  json.key("reasons");
  json.array(reasons, [&](PatternReason reason) { json.value(reason_name(reason)); });
  json.key("patterns");
  json.array(seen.patterns, [&](const PatternCells& pattern) {
    write_runs(json, pattern, [&](const CellRun& run) {
      return std::optional(std::find(reasons.begin(), reasons.end(), run.reason) - reasons.begin());
    });
  });
}

}  // namespace

void write_pattern(JsonWriter& json, const AttentionMaps& maps, bool cells) {
  const PatternMaps& seen = *maps.seen;
  const auto all_heads = [&](std::string_view key, auto&& each) {
    json.key(key);
    write_heads(json, maps.layers, maps.heads, each);
  };
  json.object([&] {
    write_patterns(json, seen);
    all_heads("of",
              [&](int layer, int head) { json.value(at(seen.of, layer * maps.heads + head)); });
    if (std::any_of(seen.patterns.begin(), seen.patterns.end(), has_bias)) {
      json.key("bias");
      json.array(seen.patterns,
                 [&](const PatternCells& pattern) { write_runs(json, pattern, bias_of); });
    }
    if (!seen.global_projection_queries.empty()) json.member("own_projections", seen.global_projection_queries);
    if (seen.non_token_weights.any()) {
      all_heads(seen.non_token_weights.keys->json_key, [&](int layer, int head) {
        const auto queries = to_size(maps.queries);
        json.value(std::span(seen.non_token_weights.weights)
                       .subspan(to_size(layer * maps.heads + head) * queries, queries));
      });
    }
    if (maps.sparse()) {
      if (cells)
        all_heads("weights", [&](int layer, int head) { write_cells(json, maps, layer, head); });
    } else if (maps.queries == maps.keys) {
      json.key("reach");
      write_reach(json, receptive_field(maps));
    }
  });
}

}  // namespace attn
