#include "record/json/maps_reader.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

/// Reads the runs [first, count, what, …] of a row of `cells` cells, which must be ascending and
/// disjoint, and calls `read` with each run and its `what`.
template <typename Read>
void read_runs(const JsonReader& runs, std::size_t cells, Read&& read) {
  runs.array();
  if (runs.size() % 3 != 0) {
    runs.fail(fmt::format("{} numbers", runs.size()), "three per run");
  }
  std::size_t end = 0;
  for (std::size_t i = 0; i < runs.size(); i += 3) {
    const std::uint64_t first = runs[i].unsigned_integer(), count = runs[i + 1].unsigned_integer();
    if (first < end || first >= cells) {
      runs[i].fail(fmt::format("{}", first), fmt::format("{} to {}", end, cells - 1));
    }
    if (count == 0 || count > cells - first) {
      runs[i + 1].fail(fmt::format("{}", count), fmt::format("1 to {}", cells - first));
    }
    end = first + count;
    read(CellRun{to_int(first), to_int(end)}, runs[i + 2]);
  }
}

PatternReason read_reason(const JsonReader& reason) {
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(PatternReason::block); ++i) {
    if (reason.string() == reason_name(static_cast<PatternReason>(i)))
      return static_cast<PatternReason>(i);
  }
  reason.fail("\"" + excerpt(reason.string()) + "\"",
              "window, global, random, stride, block or full");
}

PatternCells read_pattern(const JsonReader& rows, const MapShape& shape,
                          const std::vector<PatternReason>& reasons) {
  PatternCells pattern;
  rows.for_each(shape.queries, "rows, one per query", [&](const JsonReader& row) {
    read_runs(row, shape.keys, [&](CellRun run, const JsonReader& reason) {
      run.reason = reasons[reason.index_below(reasons.size())];
      pattern.runs.push_back(run);
    });
    pattern.end_row();
  });
  return pattern;
}

/// Reads the biases of a pattern's runs.
void read_biases(const JsonReader& rows, const MapShape& shape, PatternCells& pattern) {
  rows.array(shape.queries, "rows, one per query");
  for (std::size_t query = 0; query < shape.queries; ++query) {
    const auto begin = pattern.runs.begin() + to_index(pattern.rows[query]);
    const auto end = pattern.runs.begin() + to_index(pattern.rows[query + 1]);
    read_runs(rows[query], shape.keys, [&](const CellRun& of, const JsonReader& bias) {
      const auto run = std::find_if(begin, end, [&](const CellRun& each) {
        return each.first == of.first && each.end == of.end;
      });
      const float number = bias.number();
      if (run == end) {
        bias.fail(fmt::format("of the keys {} to {}", of.first, of.end - 1),
                  "consecutive keys that its pattern allows");
      }
      run->bias = number;
    });
  }
}

/// Reads [layer][head][query] of the computed cells.
void read_cells(const JsonReader& weights, const MapShape& shape, AttentionMaps& maps) {
  int place = 0;
  read_heads(weights, shape, [&](const JsonReader& rows) {
    const PatternCells& pattern = at(maps.seen->patterns, at(maps.seen->of, place++));
    rows.array(shape.queries, "rows, one per query");
    for (std::size_t query = 0; query < shape.queries; ++query) {
      std::size_t cells = 0;
      for (const CellRun& run : pattern.row(to_int(query))) cells += to_size(run.end - run.first);
      rows[query].numbers(cells, "weights, one per computed cell", maps.weights);
    }
  });
}

void read_pattern_maps(const JsonReader& seen, const JsonReader& dense, const MapShape& shape,
                       AttentionMaps& maps) {
  PatternMaps& all = maps.seen.emplace();
  std::vector<PatternReason> reasons;
  seen["reasons"].for_each(
      [&](const JsonReader& reason) { reasons.push_back(read_reason(reason)); });
  seen["patterns"].for_each(
      [&](const JsonReader& rows) { all.patterns.push_back(read_pattern(rows, shape, reasons)); });
  read_heads(seen["of"], shape, [&](const JsonReader& pattern) {
    all.of.push_back(to_int(pattern.index_below(all.patterns.size())));
  });
  if (const auto biases = seen.find("bias")) {
    biases->array(all.patterns.size(), "lists, one per pattern");
    for (std::size_t i = 0; i < all.patterns.size(); ++i) {
      read_biases((*biases)[i], shape, all.patterns[i]);
    }
  }
  if (const auto own = seen.find("own_projections")) {
    own->for_each([&](const JsonReader& query) {
      all.global_projection_queries.push_back(to_index(query.index_below(shape.queries)));
    });
  }
  for (const NonTokenKeys* keys : all_non_token_keys) {
    const auto non_token_weights = seen.find(keys->json_key);
    if (!non_token_weights) continue;
    all.non_token_weights = {keys, {}};
    read_heads(*non_token_weights, shape, [&](const JsonReader& row) {
      row.numbers(shape.queries, "weights, one per query", all.non_token_weights.weights);
    });
  }
  if (const auto reach = seen.find("reach")) {  // follows from the runs
    reach->for_each(shape.queries, "rows, one per query", [&](const JsonReader& row) {
      read_runs(row, shape.keys, [&](const CellRun&, const JsonReader& layers) {
        layers.index_below(shape.layers + 1);
      });
    });
  }
  if (!maps.sparse()) return read_dense(dense, shape, maps.weights);
  dense.array(0, "layers: above 1024 tokens, seen.weights has the weights");
  read_cells(seen["weights"], shape, maps);
}

}  // namespace

void read_dense(const JsonReader& maps, const MapShape& shape, std::vector<float>& weights) {
  read_heads(maps, shape, [&](const JsonReader& map) {
    map.for_each(shape.queries, "rows, one per query", [&](const JsonReader& row) {
      row.numbers(shape.keys, "weights, one per key", weights);
    });
  });
}

AttentionMaps read_maps(const JsonReader& owner, std::string_view kind, MapShape& shape) {
  AttentionMaps maps{
      to_int(shape.layers), to_int(shape.heads), to_int(shape.queries), to_int(shape.keys), {}};
  if (kind == "cross") {  // cross-attention has no pattern
    read_dense(owner[kind], shape, maps.weights);
    return maps;
  }
  const auto seen = owner.find("seen");
  const auto of_pattern = seen ? seen->find(kind) : std::nullopt;
  const auto all = owner.find("approximation");
  if (const auto approximation = all ? all->find(kind) : std::nullopt) {
    maps.approximation = read_approximation(*approximation, shape, maps);
    if (maps.approximation->type == ApproximationType::lsh) owner["seen"][kind].object();
  }
  if (maps.has_projected_keys()) {
    owner[kind].array(0, "layers: approximation has the weights of mixtures");
  } else if (of_pattern) {
    read_pattern_maps(*of_pattern, owner[kind], shape, maps);
  } else {
    read_dense(owner[kind], shape, maps.weights);
  }
  return maps;
}

namespace {

/// Reads [layer][query][mixture].
std::vector<float> read_mixing(const JsonReader& layers, const MapShape& shape) {
  std::vector<float> numbers;
  layers.for_each(shape.layers, "layers", [&](const JsonReader& rows) {
    rows.for_each(shape.queries, "rows, one per token", [&](const JsonReader& row) {
      row.numbers(shape.keys, "numbers, one per mixture", numbers);
    });
  });
  return numbers;
}

void read_mixtures(const JsonReader& approximation, MapShape& shape, AttentionMaps& maps,
                   Approximation& more) {
  const JsonReader weights = approximation["weights"];
  read_heads(weights, shape,
             [&](const JsonReader& map) { map.array(shape.queries, "rows, one per query"); });
  // All rows are as long as the first one.
  const Json* first = &weights.value();
  for (int depth = 0; depth < 3 && !first->empty(); ++depth) first = &first->front();
  shape.keys = first->is_array() ? first->size() : 0;
  if (shape.keys == 0 && shape.queries > 0) weights.fail("without mixtures", "at least one");
  maps.keys = to_int(shape.keys);
  read_heads(weights, shape, [&](const JsonReader& map) {
    map.for_each([&](const JsonReader& row) {
      row.numbers(shape.keys, "weights, one per mixture", maps.weights);
    });
  });
  more.projected_keys = read_mixing(approximation["keys"], shape);
  more.projected_values = read_mixing(approximation["values"], shape);
}

/// Reads one permutation of 0 … count − 1 per round.
std::vector<std::vector<std::int32_t>> read_orders(const JsonReader& rounds, std::size_t count) {
  std::vector<std::vector<std::int32_t>> orders;
  rounds.for_each([&](const JsonReader& tokens) {
    std::vector<bool> there(count);
    std::vector<std::int32_t>& order = orders.emplace_back();
    tokens.for_each(count, "tokens", [&](const JsonReader& place) {
      const std::uint64_t token = place.unsigned_integer();
      if (token >= count || there[token]) {
        place.fail(fmt::format("{}", token), "each token once");
      }
      there[token] = true;
      order.push_back(to_int(token));
    });
  });
  return orders;
}

/// Reads the tokens' buckets per round. A sentence of one chunk is not hashed.
std::vector<std::vector<std::int32_t>> read_buckets(const JsonReader& rounds, std::size_t tokens,
                                                    std::size_t count) {
  std::vector<std::vector<std::int32_t>> buckets;
  rounds.for_each([&](const JsonReader& round) {
    std::vector<std::int32_t>& of_tokens = buckets.emplace_back();
    round.for_each(tokens, "buckets, one per token",
                   [&](const JsonReader& bucket) { of_tokens.push_back(bucket.integer()); });
  });
  if (!buckets.empty()) rounds.array(count, "rounds, as there are orders");
  return buckets;
}

/// Reads a query's best key, −1 if there is no other token.
int read_best(const JsonReader& best, std::size_t keys) {
  if (best.value() == -1) return -1;
  const std::uint64_t key = best.unsigned_integer();
  if (key >= keys) best.fail(fmt::format("{}", key), fmt::format("-1 or a number below {}", keys));
  return to_int(key);
}

void read_hashes(const JsonReader& approximation, const MapShape& shape, Approximation& more) {
  if (shape.queries == 0) return;
  const JsonReader chunk = approximation["chunk"];
  if (chunk.integer() == 0) chunk.fail("0", "tokens of a chunk, from 1");
  read_heads(approximation["order"], shape, [&](const JsonReader& rounds) {
    LshBuckets& hash = more.hashed.emplace_back().order;
    hash.chunk = chunk.integer();
    hash.order = read_orders(rounds, shape.queries);
  });
  const auto each_head = [&](std::string_view key, auto&& read) {
    auto head = more.hashed.begin();
    read_heads(approximation[key], shape, [&](const JsonReader& place) { read(place, *head++); });
  };
  each_head("buckets", [&](const JsonReader& rounds, RecordedLshHead& head) {
    head.order.buckets = read_buckets(rounds, shape.queries, head.order.order.size());
  });
  each_head("best", [&](const JsonReader& best, RecordedLshHead& head) {
    best.for_each(shape.queries, "keys, one per query", [&](const JsonReader& key) {
      head.best.push_back(read_best(key, shape.queries));
    });
  });
  each_head("mass", [&](const JsonReader& mass, RecordedLshHead& head) {
    mass.numbers(shape.queries, "numbers, one per query", head.mass);
  });
  each_head("best_met", [](const JsonReader& share, RecordedLshHead&) {  // follows from the others
    if (!share.value().is_null()) share.number();
  });
}

}  // namespace

Approximation read_approximation(const JsonReader& approximation, MapShape& shape,
                                 AttentionMaps& maps) {
  Approximation more;
  const JsonReader type = approximation["type"];
  if (type.string() == approximation_name(ApproximationType::linformer)) {
    more.type = ApproximationType::linformer;
    read_mixtures(approximation, shape, maps, more);
  } else if (type.string() == approximation_name(ApproximationType::performer)) {
    more.type = ApproximationType::performer;
    if (const auto exact = approximation.find("exact")) read_dense(*exact, shape, more.exact);
  } else if (type.string() == approximation_name(ApproximationType::lsh)) {
    more.type = ApproximationType::lsh;
    read_hashes(approximation, shape, more);
  } else {
    type.fail("\"" + excerpt(type.string()) + "\"", "\"linformer\", \"performer\" or \"lsh\"");
  }
  return more;
}

}  // namespace attn
