#include "view/data/seen_json.h"

#include <algorithm>

#include "base/at.h"
#include "record/receptive_field.h"
#include "view/data/json_parts.h"

namespace attn {
namespace {

/// The reasons that occur, in the order of Sight.
std::vector<Sight> reasons_of(const SeenMaps& seen) {
  std::vector<Sight> reasons;
  for (const SeenCells& pattern : seen.patterns) {
    for (const SeenRun& run : pattern.runs) {
      if (std::find(reasons.begin(), reasons.end(), run.sight) == reasons.end()) {
        reasons.push_back(run.sight);
      }
    }
  }
  std::sort(reasons.begin(), reasons.end());
  return reasons;
}

/// [[first,count,what,…],…]: a row a query, of the runs that `counts` lets in; `what` adds its own.
template <typename Counts, typename What>
void append_runs(std::string& out, const SeenCells& pattern, Counts&& counts, What&& what) {
  const int queries = to_int(pattern.rows.size()) - 1;
  out += '[';
  for (int query = 0; query < queries; ++query) {
    out += query == 0 ? "[" : ",[";
    bool first = true;
    for (const SeenRun& run : pattern.row(query)) {
      if (!counts(run)) continue;
      append_format(out, "{}{},{},", first ? "" : ",", run.first, run.end - run.first);
      what(run);
      first = false;
    }
    out += ']';
  }
  out += ']';
}

/// Why each run is seen, as the number of its reason.
void append_pattern(std::string& out, const SeenCells& pattern, const std::vector<Sight>& reasons) {
  append_runs(
      out, pattern, [](const SeenRun&) { return true; },
      [&](const SeenRun& run) {
        const auto reason = std::find(reasons.begin(), reasons.end(), run.sight) - reasons.begin();
        append_format(out, "{}", reason);
      });
}

/// The bias of the runs that have one.
void append_biases(std::string& out, const SeenCells& pattern) {
  append_runs(
      out, pattern, [](const SeenRun& run) { return run.bias != 0; },
      [&](const SeenRun& run) { append_number(out, run.bias); });
}

bool has_bias(const SeenCells& pattern) {
  return std::any_of(pattern.runs.begin(), pattern.runs.end(),
                     [](const SeenRun& run) { return run.bias != 0; });
}

/// [layer][head] of what `append` writes.
template <typename Append>
void append_heads(std::string& out, const AttentionMaps& maps, Append&& append) {
  out += '[';
  for (int layer = 0; layer < maps.layers; ++layer) {
    out += layer == 0 ? "[" : ",[";
    for (int head = 0; head < maps.heads; ++head) {
      if (head > 0) out += ',';
      append(layer, head);
    }
    out += ']';
  }
  out += ']';
}

/// [[first,count,layers,…],…]: a row a query.
void append_reach(std::string& out, const ReceptiveField& field) {
  out += '[';
  for (int row = 0; row < field.side; ++row) {
    out += row == 0 ? "[" : ",[";
    const auto cells =
        std::span(field.first).subspan(to_size(row) * to_size(field.side), to_size(field.side));
    bool written = false;
    for (std::size_t first = 0, end = 0; first < cells.size(); first = end) {
      while (end < cells.size() && cells[end] == cells[first]) ++end;
      if (cells[first] == 0) continue;
      append_format(out, "{}{},{},{}", written ? "," : "", first, end - first, cells[first]);
      written = true;
    }
    out += ']';
  }
  out += ']';
}

/// The computed cells of one head, a row a query.
void append_cells(std::string& out, const AttentionMaps& maps, int layer, int head) {
  std::span<const float> rest = maps.cells(layer, head);
  out += '[';
  for (int query = 0; query < maps.queries; ++query) {
    std::size_t cells = 0;
    for (const SeenRun& run : maps.seen_by(layer, head)->row(query)) {
      cells += to_size(run.end - run.first);
    }
    if (query > 0) out += ',';
    append_floats(out, rest.first(cells));
    rest = rest.subspan(cells);
  }
  out += ']';
}

}  // namespace

void append_seen(std::string& out, const AttentionMaps& maps) {
  const SeenMaps& seen = *maps.seen;
  const std::vector<Sight> reasons = reasons_of(seen);
  out += "{\"reasons\":";
  append_list(out, reasons,
              [](std::string& to, Sight sight) { append_string(to, sight_word(sight)); });
  out += ",\"patterns\":";
  append_list(out, seen.patterns, [&](std::string& to, const SeenCells& pattern) {
    append_pattern(to, pattern, reasons);
  });
  out += ",\"of\":";
  append_heads(out, maps, [&](int layer, int head) {
    append_integer(out, at(seen.of, layer * maps.heads + head));
  });
  if (std::any_of(seen.patterns.begin(), seen.patterns.end(), has_bias)) {
    out += ",\"bias\":";
    append_list(out, seen.patterns, append_biases);
  }
  if (!seen.own_projections.empty()) {
    out += ",\"own_projections\":";
    append_list(out, seen.own_projections, append_integer<Index>);
  }
  if (seen.outside.any()) {
    append_format(out, ",\"{}\":", seen.outside.keys->json_key);
    const auto queries = to_size(maps.queries);
    append_heads(out, maps, [&](int layer, int head) {
      const auto first = to_size(layer * maps.heads + head) * queries;
      append_floats(out, std::span(seen.outside.weights).subspan(first, queries));
    });
  }
  if (maps.sparse()) {
    out += ",\"weights\":";
    append_heads(out, maps, [&](int layer, int head) { append_cells(out, maps, layer, head); });
  } else if (maps.queries == maps.keys) {
    out += ",\"reach\":";
    append_reach(out, receptive_field(maps));
  }
  out += '}';
}

}  // namespace attn
