#include "service/why/measured_maps.h"

#include <algorithm>

#include "base/at.h"
#include "base/memory.h"
#include "why/contributions.h"
#include "why/why.h"

namespace attn {
namespace {

/// Returns the maps of an array [L, H, T, S], or [L, T, S] with one map per layer. Columns beyond
/// `keys`, the residual's, are left out.
AttentionMaps maps_from(const NdArray& array, int keys) {
  const std::size_t axes = array.shape.size();
  const Index width = array.shape[axes - 1], rows = array.shape[axes - 2];
  AttentionMaps maps{
      to_int(array.shape[0]), axes == 4 ? to_int(array.shape[1]) : 1, to_int(rows), keys, {}};
  for (std::size_t first = 0; first < array.values.size(); first += to_size(width)) {
    const auto row = array.values.begin() + to_index(first);
    maps.weights.insert(maps.weights.end(), row, row + keys);
  }
  return maps;
}

AttentionMaps no_maps(const AttentionMaps& like) {
  return {0, 0, like.queries, like.has_projected_keys() ? like.queries : like.keys, {}};
}

AttentionMaps measured(const SiteContributions& site, const MeasuredItem& item, int keys) {
  const bool heads = item.per_head();
  if (item.measure == MapMeasure::value) {
    return maps_from(heads ? site.value_weighted : site.value_weighted_layer, keys);
  }
  return maps_from(heads ? site.alti_heads : site.alti, keys);
}

/// Divides the maps by their largest entry, which is returned.
float scale_to_1(std::vector<AttentionMaps*> all) {
  float largest = 0;
  for (const AttentionMaps* maps : all) {
    for (const float value : maps->weights) largest = std::max(largest, value);
  }
  if (!(largest > 0)) return 1;
  for (AttentionMaps* maps : all) {
    for (float& value : maps->weights) value /= largest;
  }
  return largest;
}

/// Returns items [T, L, H, S] as maps.
AttentionMaps maps_of_items(const NdArray& items) {
  const Index T = items.shape[0], L = items.shape[1], H = items.shape[2], S = items.shape[3];
  AttentionMaps maps{to_int(L), to_int(H), to_int(T), to_int(S), {}};
  maps.weights.reserve(items.values.size());
  for (Index l = 0; l < L; ++l) {
    for (Index h = 0; h < H; ++h) {
      for (Index t = 0; t < T; ++t) {
        // Adding 0 turns the −0 of masked keys into 0, which packed maps of a triangle leave out.
        for (const float item : items.row(t, l, h)) maps.weights.push_back(item + 0.0F);
      }
    }
  }
  return maps;
}

AttentionMaps lengths(const Transformer& model, const Trace& trace, AttentionSite site) {
  const NdArray maps = value_weighted_maps(model, trace, site);
  return maps.empty() ? AttentionMaps() : maps_from(maps, to_int(maps.shape[3]));
}

}  // namespace

void add_measured_maps(const Transformer& model, const Trace& trace, const Receipt& receipt,
                       WordReceipts& receipts) {
  receipts.encoder_self = {lengths(model, trace, AttentionSite::encoder_self), {}};
  receipts.decoder_self = {lengths(model, trace, AttentionSite::decoder_self),
                           maps_of_items(receipt.self)};
  receipts.cross = {lengths(model, trace, AttentionSite::cross), maps_of_items(receipt.cross)};
}

MeasuredRecord measure_record(const Transformer& model, const AttentionRecord& record,
                              const MeasuredItem& item, bool scaled) {
  MeasuredRecord out;
  AttentionRecord& result = out.record;
  result.model = record.model;
  result.part = record.part;
  result.source_text = record.source_text;
  result.source = record.source;
  result.encoder_self = no_maps(record.encoder_self);
  const int source = to_int(record.source.ids.size());
  std::vector<AttentionMaps*> all;
  result.hypotheses.reserve(record.hypotheses.size());
  for (const HypothesisRecord& from : record.hypotheses) {
    HypothesisRecord& to = result.hypotheses.emplace_back();
    to.text = from.text;
    to.score = from.score;
    to.log_probs = from.log_probs;
    to.produced = from.produced;
    to.decoder_input = from.decoder_input;
    to.cross = no_maps(from.cross);
    to.decoder_self = no_maps(from.decoder_self);
    if (from.produced.ids.empty() || record.source.ids.empty()) continue;
    const std::size_t steps = from.produced.ids.size();
    require_memory(
        why_bytes(model.config(), {.contributions = true}, record.source.ids.size(), steps),
        "maps of values");
    const Trace trace =
        trace_translation(model, record.source.ids, from.decoder_input.ids, from.produced.ids);
    const SiteContributions site = make_site_contributions(model, trace, item.name.site);
    const bool encoder = item.name.site == AttentionSite::encoder_self;
    AttentionMaps& maps = encoder                                  ? result.encoder_self
                          : item.name.site == AttentionSite::cross ? to.cross
                                                                   : to.decoder_self;
    const bool reads_source = item.name.site != AttentionSite::decoder_self;
    maps = measured(site, item, reads_source ? source : to_int(steps));
    if (!encoder || all.empty()) all.push_back(&maps);
  }
  if (scaled && item.measure == MapMeasure::value) out.largest = scale_to_1(all);
  return out;
}

}  // namespace attn
