#include "record/json/approximation_reader.h"

#include <vector>

#include "base/error.h"
#include "base/strings/excerpt.h"

namespace attn {
namespace {

/// [layer][query][mixture]
std::vector<float> read_mixing(const JsonReader& layers, const MapShape& shape) {
  std::vector<float> numbers;
  layers.for_each(shape.layers, "layers", [&](const JsonReader& rows) {
    rows.for_each(shape.queries, "rows, one a token", [&](const JsonReader& row) {
      row.numbers(shape.keys, "numbers, one a mixture", numbers);
    });
  });
  return numbers;
}

void read_mixtures(const JsonReader& approximation, MapShape& shape, AttentionMaps& maps,
                   Approximation& more) {
  const JsonReader weights = approximation["weights"];
  read_heads(weights, shape,
             [&](const JsonReader& map) { map.array(shape.queries, "rows, one a query"); });
  // All rows are as long as the first.
  const Json* first = &weights.value();
  for (int depth = 0; depth < 3 && !first->empty(); ++depth) first = &first->front();
  shape.keys = first->is_array() ? first->size() : 0;
  if (shape.keys == 0 && shape.queries > 0) weights.fail("without mixtures", "one at least");
  maps.keys = to_int(shape.keys);
  read_heads(weights, shape, [&](const JsonReader& map) {
    map.for_each([&](const JsonReader& row) {
      row.numbers(shape.keys, "weights, one a mixture", maps.weights);
    });
  });
  more.projected_keys = read_mixing(approximation["keys"], shape);
  more.projected_values = read_mixing(approximation["values"], shape);
}

/// [round] of a permutation of 0 … count − 1.
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

/// [round] of the tokens' buckets. Nothing is hashed in a sentence of one chunk.
std::vector<std::vector<std::int32_t>> read_buckets(const JsonReader& rounds, std::size_t tokens,
                                                    std::size_t count) {
  std::vector<std::vector<std::int32_t>> buckets;
  rounds.for_each([&](const JsonReader& round) {
    std::vector<std::int32_t>& of_tokens = buckets.emplace_back();
    round.for_each(tokens, "buckets, one a token",
                   [&](const JsonReader& bucket) { of_tokens.push_back(bucket.integer()); });
  });
  if (!buckets.empty()) rounds.array(count, "rounds, as there are orders");
  return buckets;
}

/// A query's best key: −1 where there is no other.
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
    best.for_each(shape.queries, "keys, one a query", [&](const JsonReader& key) {
      head.best.push_back(read_best(key, shape.queries));
    });
  });
  each_head("mass", [&](const JsonReader& mass, RecordedLshHead& head) {
    mass.numbers(shape.queries, "numbers, one a query", head.mass);
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
