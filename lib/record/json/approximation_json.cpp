#include "record/json/approximation_json.h"

#include "record/best_keys.h"
#include "record/json/json_parts.h"
#include "record/json/packed_maps.h"

namespace attn {
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
      write_packed(json, of_values ? more.projected_values : more.projected_keys, maps.queries, maps.keys);
      continue;
    }
    json.array_of(maps.layers,
                 [&](int layer) { write_rows(json, maps.projection(layer, of_values), maps.keys); });
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

}  // namespace attn
