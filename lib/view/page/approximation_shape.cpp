#include "view/page/approximation_shape.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/strings/excerpt.h"

namespace attn {
namespace {

/// [layer][query][mixture]
void check_mixing(const JsonPlace& layers, const MapShape& shape) {
  layers.array(shape.layers, "layers");
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    const JsonPlace rows = layers[layer];
    rows.array(shape.queries, "rows, one a token");
    for (std::size_t q = 0; q < shape.queries; ++q) {
      check_numbers(rows[q], shape.keys, "numbers, one a mixture");
    }
  }
}

std::size_t check_mixtures(const JsonPlace& approximation, MapShape shape) {
  const JsonPlace weights = approximation["weights"];
  check_heads_of(weights, shape,
                 [&](const JsonPlace& map) { map.array(shape.queries, "rows, one a query"); });
  // All rows are as long as the first.
  const Json* first = &weights.value();
  for (int depth = 0; depth < 3 && !first->empty(); ++depth) first = &first->front();
  shape.keys = first->is_array() ? first->size() : 0;
  if (shape.keys == 0 && shape.queries > 0) weights.fail("without mixtures", "one at least");
  check_heads_of(weights, shape, [&](const JsonPlace& map) {
    for (std::size_t q = 0; q < shape.queries; ++q) {
      check_numbers(map[q], shape.keys, "weights, one a mixture");
    }
  });
  check_mixing(approximation["keys"], shape);
  check_mixing(approximation["values"], shape);
  return shape.keys;
}

/// A permutation of 0 … count − 1.
void check_order(const JsonPlace& tokens, std::size_t count) {
  tokens.array(count, "tokens");
  std::vector<bool> there(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t token = tokens[i].whole();
    if (token >= count || there[token]) {
      tokens[i].fail(fmt::format("{}", token), "each token once");
    }
    there[token] = true;
  }
}

/// A query's best key: −1 where there is no other.
void check_best(const JsonPlace& best, std::size_t keys) {
  if (best.value() == -1) return;
  const std::uint64_t key = best.whole();
  if (key >= keys) best.fail(fmt::format("{}", key), fmt::format("-1 or a number below {}", keys));
}

void check_hashes(const JsonPlace& approximation, const MapShape& shape) {
  if (shape.queries == 0) return;
  const JsonPlace chunk = approximation["chunk"];
  if (chunk.whole() == 0) chunk.fail("0", "tokens of a chunk, from 1");
  const JsonPlace orders = approximation["order"], all_buckets = approximation["buckets"];
  check_heads_of(orders, shape, [&](const JsonPlace& rounds) {
    for (std::size_t r = 0; r < rounds.array().size(); ++r) check_order(rounds[r], shape.queries);
  });
  check_heads_of(all_buckets, shape, [&](const JsonPlace& rounds) {
    for (std::size_t r = 0; r < rounds.array().size(); ++r) {
      const JsonPlace buckets = rounds[r];
      buckets.array(shape.queries, "buckets, one a token");
      for (std::size_t i = 0; i < shape.queries; ++i) buckets[i].whole();
    }
  });
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    for (std::size_t head = 0; head < shape.heads; ++head) {
      const std::size_t rounds = orders.value()[layer][head].size();
      // Nothing is hashed in a sentence of one chunk.
      const JsonPlace heads = all_buckets[layer];
      const JsonPlace buckets = heads[head];
      if (buckets.size() != 0) buckets.array(rounds, "rounds, as there are orders");
    }
  }
  check_heads_of(approximation["best"], shape, [&](const JsonPlace& best) {
    best.array(shape.queries, "keys, one a query");
    for (std::size_t q = 0; q < shape.queries; ++q) check_best(best[q], shape.queries);
  });
  check_heads_of(approximation["mass"], shape, [&](const JsonPlace& mass) {
    check_numbers(mass, shape.queries, "numbers, one a query");
  });
  check_heads_of(approximation["best_met"], shape, [](const JsonPlace& share) {
    if (!share.value().is_null()) share.number();
  });
}

}  // namespace

std::size_t check_approximation(const JsonPlace& approximation, const MapShape& shape) {
  const JsonPlace type = approximation["type"];
  if (type.text() == "linformer") return check_mixtures(approximation, shape);
  if (type.text() == "performer") {
    if (const auto exact = approximation.find("exact")) check_maps(*exact, shape);
  } else if (type.text() == "lsh") {
    check_hashes(approximation, shape);
  } else {
    type.fail("\"" + excerpt(type.text()) + "\"", "\"linformer\", \"performer\" or \"lsh\"");
  }
  return shape.keys;
}

}  // namespace attn
