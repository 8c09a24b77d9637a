// Which maps are shown: KIND[:LAYER[:HEAD]], "best", "cross:2:mean", read and checked against a
// model.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "config/attention_site.h"
#include "record/attention_record.h"
#include "record/shown_maps.h"

namespace attn {

/// A kind, a layer of it or one head.
using ShowItem = HeadName;

struct MapSelection {
  bool all = false;             ///< every layer and head of every kind
  bool last_layers = true;      ///< the default: the last layer's heads of each kind
  std::vector<ShowItem> items;  ///< used when neither of the above is set; empty: show nothing
};

/// Reads "encoder", "decoder:1", "cross:0:3", "best", "cross:2:mean" (config/attention_site.h),
/// "all", "none", one each. Numbers are plain decimals. UsageError naming the bad one and the form
/// expected.
MapSelection parse_map_selection(const std::vector<std::string>& arguments);

/// UsageError where the selection names a layer or head that the record does not have
/// ("cross:3: layer 3 is asked for, but the model's decoder has layers 0 to 2").
void check_map_selection(const MapSelection& selection, const ModelSummary& model);

// What the names of heads mean in a sentence: the head that aligns best, a mean of heads; by tokens
// or by words.

/// `name`, with "best" replaced by the head of cross-attention that aligns this hypothesis best
/// (rank_by_alignment), of the named layer if there is one. Where the hypothesis has been aligned
/// by a head, that of a whole run, that is the best head of all layers. Where none can be measured,
/// as without words, it is the last layer's head 0. Any other name comes back as it is.
HeadName resolve_best(const HeadName& name, const AttentionRecord& record, std::size_t hypothesis);

/// The mean of a layer's heads, or without a layer that of all heads of all layers, [queries ·
/// keys].
std::vector<float> mean_weights(const AttentionMaps& maps, std::optional<int> layer);

/// Of the exact weights, likewise; empty where a model estimates none.
std::vector<float> mean_exact_weights(const AttentionMaps& maps, std::optional<int> layer);

/// The chosen maps, a kind after the other, each map once; kinds without any are left out, and so
/// are those of a hypothesis that the record does not have. A sentence without words has none. What
/// is named comes in the model's order. The default begins with cross-attention and its best head,
/// which may be of any layer. By words (record/words.h), special symbols and punctuation stand for
/// themselves. InputError where the maps do not fit the tokens.
std::vector<ShownMaps> select_maps(const AttentionRecord& record, std::size_t hypothesis,
                                   const MapSelection& selection, bool by_words = false);

}  // namespace attn
