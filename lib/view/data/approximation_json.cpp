#include "view/data/approximation_json.h"

#include <optional>

#include "record/best_keys.h"
#include "view/data/json_parts.h"

namespace attn {
namespace {

/// [query][key]
void append_number_rows(std::string& out, std::span<const float> values, int columns) {
  const std::size_t width = to_size(columns);
  out += '[';
  for (std::size_t first = 0; first < values.size(); first += width) {
    if (first > 0) out += ',';
    append_floats(out, values.subspan(first, width));
  }
  out += ']';
}

void append_integers(std::string& out, std::span<const std::int32_t> values) {
  append_list(out, values, [](std::string& to, std::int32_t value) { append_integer(to, value); });
}

/// [layer] of what `append` writes.
template <typename Append>
void append_layers(std::string& out, std::string_view key, int layers, Append&& append) {
  append_format(out, ",\"{}\":[", key);
  for (int layer = 0; layer < layers; ++layer) {
    if (layer > 0) out += ',';
    append(layer);
  }
  out += ']';
}

/// [layer][head] of what `append` writes.
template <typename Append>
void append_all_heads(std::string& out, std::string_view key, const AttentionMaps& maps,
                      Append&& append) {
  append_layers(out, key, maps.layers, [&](int layer) {
    out += '[';
    for (int head = 0; head < maps.heads; ++head) {
      if (head > 0) out += ',';
      append(layer, head);
    }
    out += ']';
  });
}

void append_mixtures(std::string& out, const AttentionMaps& maps) {
  append_all_heads(out, "weights", maps, [&](int layer, int head) {
    append_number_rows(out, maps.map(layer, head), maps.keys);
  });
  for (const bool of_values : {false, true}) {
    append_layers(out, of_values ? "values" : "keys", maps.layers, [&](int layer) {
      append_number_rows(out, maps.mixing(layer, of_values), maps.keys);
    });
  }
}

void append_hashes(std::string& out, const AttentionMaps& maps) {
  const auto rounds = [&](std::string_view key, auto member) {
    append_all_heads(out, key, maps, [&](int layer, int head) {
      append_list(out, maps.hashed(layer, head)->order.*member,
                  [](std::string& to, const std::vector<std::int32_t>& round) {
                    append_integers(to, round);
                  });
    });
  };
  append_format(out, ",\"chunk\":{}", maps.hashed(0, 0)->order.chunk);
  rounds("buckets", &HashOrder::buckets);
  rounds("order", &HashOrder::order);
  append_all_heads(out, "best", maps, [&](int layer, int head) {
    append_integers(out, maps.hashed(layer, head)->best);
  });
  append_all_heads(out, "mass", maps, [&](int layer, int head) {
    append_floats(out, maps.hashed(layer, head)->mass);
  });
  append_all_heads(out, "best_met", maps, [&](int layer, int head) {
    const std::optional<float> share = best_keys(maps, layer, head).share();
    if (share) {
      append_number(out, *share);
    } else {
      out += "null";
    }
  });
}

}  // namespace

void append_approximation(std::string& out, const AttentionMaps& maps) {
  const Approximation& more = *maps.approximation;
  out += "{\"type\":";
  append_string(out, approximation_word(more.kind));
  switch (more.kind) {
    case ApproximationKind::linformer:
      append_mixtures(out, maps);
      break;
    case ApproximationKind::performer:
      if (more.exact.empty()) break;
      append_all_heads(out, "exact", maps, [&](int layer, int head) {
        append_number_rows(out, maps.exact(layer, head), maps.keys);
      });
      break;
    case ApproximationKind::lsh:
      if (!more.hashed.empty()) append_hashes(out, maps);
      break;
  }
  out += '}';
}

}  // namespace attn
