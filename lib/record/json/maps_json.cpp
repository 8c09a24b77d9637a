#include "record/json/maps_json.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/at.h"
#include "record/attention_maps.h"
#include "record/json/json_parts.h"
#include "record/receptive_field.h"

namespace attn {
namespace {

/// Returns the reasons that occur, in the order of PatternReason.
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

/// Writes [first,count,what,…] per query: the runs of a pattern for which `what(run)` is not empty.
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

/// Writes [first,count,layers,…] per query.
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

/// Writes the computed cells of one head, one row per query.
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
    if (!seen.global_projection_queries.empty())
      json.member("own_projections", seen.global_projection_queries);
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

namespace {

void write_projections(JsonWriter& json, const AttentionMaps& maps, bool packed) {
  if (packed) {
    json.member("mixtures", maps.keys);
  } else {
    json.key("weights");
    write_heads(json, maps.layers, maps.heads,
                [&](int layer, int head) { write_rows(json, maps.map(layer, head), maps.keys); });
  }
  for (const bool of_values : {false, true}) {
    json.key(of_values ? "values" : "keys");
    if (packed) {
      const Approximation& more = *maps.approximation;
      write_packed(json, of_values ? more.projected_values : more.projected_keys, maps.queries,
                   maps.keys);
      continue;
    }
    json.array_of(maps.layers, [&](int layer) {
      write_rows(json, maps.projection(layer, of_values), maps.keys);
    });
  }
}

void write_exact(JsonWriter& json, const AttentionMaps& maps, bool packed) {
  if (maps.approximation->exact.empty()) return;
  json.key("exact");
  if (packed) return write_packed(json, maps.approximation->exact, maps.queries, maps.keys);
  write_heads(json, maps.layers, maps.heads,
              [&](int layer, int head) { write_rows(json, maps.exact(layer, head), maps.keys); });
}

void write_hashes(JsonWriter& json, const AttentionMaps& maps) {
  if (maps.approximation->hashed.empty()) return;
  const auto member = [&](std::string_view key, auto&& value_of) {
    json.key(key);
    write_heads(json, maps.layers, maps.heads,
                [&](int layer, int head) { json.value(value_of(*maps.hashed(layer, head))); });
  };
  json.member("chunk", maps.hashed(0, 0)->order.chunk);
  member(
      "buckets", [](const RecordedLshHead& head) -> const auto& { return head.order.buckets; });
  member(
      "order", [](const RecordedLshHead& head) -> const auto& { return head.order.order; });
  member(
      "best", [](const RecordedLshHead& head) -> const auto& { return head.best; });
  member(
      "mass", [](const RecordedLshHead& head) -> const auto& { return head.mass; });
  json.key("best_met");
  write_heads(json, maps.layers, maps.heads,
              [&](int layer, int head) { json.value(lsh_recall(maps, layer, head).share()); });
}

}  // namespace

void write_approximation(JsonWriter& json, const AttentionMaps& maps, bool packed) {
  const ApproximationType kind = maps.approximation->type;
  json.object([&] {
    json.member("type", approximation_name(kind));
    if (kind == ApproximationType::linformer) write_projections(json, maps, packed);
    if (kind == ApproximationType::performer) write_exact(json, maps, packed);
    if (kind == ApproximationType::lsh) write_hashes(json, maps);
  });
}

namespace {

constexpr unsigned kMantissaBits = 23;

/// Writes bits, lowest first, as pairs of letters.
class LetterBits {
 public:
  explicit LetterBits(std::string& out) : out_(out) {}

  void add(std::uint64_t bits, unsigned count) {
    waiting_ |= bits << count_;
    for (count_ += count; count_ >= 13; count_ -= 13) flush();
  }
  /// Writes the last bits, padded with zeros.
  void finish() {
    if (count_ > 0) flush();
    count_ = 0;
  }

 private:
  void flush() {
    constexpr std::string_view kLetters =
        "!#$%&'()*+,-./"
        "0123456789:;=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    static_assert(kLetters.size() == 91);
    const auto pair = static_cast<std::size_t>(waiting_ & 8191U);
    out_ += kLetters[pair % 91];
    out_ += kLetters[pair / 91];
    waiting_ >>= 13;
  }

  std::string& out_;
  std::uint64_t waiting_ = 0;
  unsigned count_ = 0;
};

void add_size(LetterBits& bits, unsigned size) {
  bits.add((std::uint64_t{1} << size / 8) - 1, size / 8 + 1);
  bits.add(size % 8, 3);
}

std::uint32_t bits_of(float weight) {
  return std::bit_cast<std::uint32_t>(weight);
}

void add_weight(LetterBits& bits, float weight) {
  const std::uint32_t word = bits_of(weight);
  const std::uint32_t exponent = word >> kMantissaBits;  // the highest bit is the sign
  if (word == 0) {
    add_size(bits, 0);
  } else if (exponent >= 1 && exponent <= 127) {
    add_size(bits, 128 - exponent);
    bits.add(word & ((1U << kMantissaBits) - 1), kMantissaBits);
  } else {
    add_size(bits, 128);
    bits.add(word, 32);
  }
}

/// True if all maps are square with `side` rows and have only zeros after the diagonal.
bool are_triangles(std::span<const float> weights, std::size_t side) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t query = i / side % side, key = i % side;
    if (key > query && bits_of(weights[i]) != 0) return false;
  }
  return true;
}

}  // namespace

void write_packed(JsonWriter& json, std::span<const float> weights, int queries, int keys) {
  const std::size_t rows = to_size(queries), width = to_size(keys);
  const bool triangle = rows == width && are_triangles(weights, width);
  json.unescaped_string([&](std::string& out) {
    LetterBits bits(out);
    bits.add(triangle ? 1 : 0, 1);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!triangle || i % width <= i / width % rows) add_weight(bits, weights[i]);
    }
    bits.finish();
  });
}

}  // namespace attn
