#include "record/attention_record.h"

#include <algorithm>

#include "base/at.h"
#include "base/error.h"

namespace attn {

std::vector<AttentionRecord> what_if_records(const WhatIfRecord& record) {
  AttentionRecord after = record.after;
  const auto same = [&](const HypothesisRecord& hypothesis) {
    return hypothesis.produced.ids == record.teacher_forced.produced.ids;
  };
  if (std::none_of(after.hypotheses.begin(), after.hypotheses.end(), same)) {
    after.hypotheses.push_back(record.teacher_forced);
    after.hypotheses.back().teacher_forced = true;
  }
  return {record.before, std::move(after)};
}

namespace {

/// True if the data of an approximation fits the shape of the maps.
bool fits(const AttentionMaps& maps) {
  if (!maps.approximation) return true;
  const Approximation& more = *maps.approximation;
  const std::size_t cells = to_size(maps.queries) * to_size(maps.keys);
  const std::size_t heads = to_size(maps.layers * maps.heads);
  switch (more.type) {
    case ApproximationType::linformer:
      return more.projected_keys.size() == to_size(maps.layers) * cells &&
             more.projected_values.size() == more.projected_keys.size();
    case ApproximationType::performer:
      return more.exact.empty() || more.exact.size() == heads * cells;
    case ApproximationType::lsh:
      return more.hashed.size() == heads;
  }
  return false;
}

void check_maps(const char* name, const AttentionMaps& maps, std::size_t queries,
                std::size_t keys) {
  const auto size = [](int n) { return to_size(n); };
  if (maps.layers < 0 || maps.heads < 0 || size(maps.queries) != queries ||
      (size(maps.keys) != keys && !maps.has_projected_keys()) ||
      maps.weights.size() != maps.weight_count() || !fits(maps)) {
    throw InputError(
        "the record's {} maps are [{}, {}, {}, {}] with {} numbers; expected {} queries and {} "
        "keys, one per token",
        name, maps.layers, maps.heads, maps.queries, maps.keys, maps.weights.size(), queries, keys);
  }
}

}  // namespace

void check_map_shapes(const AttentionRecord& record, std::size_t hypothesis) {
  const std::size_t source = record.source.tokens.size();
  check_maps("encoder", record.encoder_self, source, source);
  if (hypothesis >= record.hypotheses.size()) return;
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  const std::size_t steps = found.produced.tokens.size();
  if (found.decoder_input.tokens.size() != steps) {
    throw InputError("the record's decoder read {} tokens and wrote {}; expected as many",
                     found.decoder_input.tokens.size(), steps);
  }
  check_maps("decoder", found.decoder_self, steps, steps);
  check_maps("cross", found.cross, steps, steps == 0 ? 0 : source);
}

}  // namespace attn
