// The selection of maps to show: SITE[:LAYER[:HEAD]], "best", "cross:2:mean", parsed and checked
// against a model.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/measured_item.h"
#include "config/attention_site.h"
#include "record/attention_record.h"
#include "record/shown_maps.h"

namespace attn {

/// An attention site, one of its layers, or one head.
using ShowItem = HeadName;

struct MapSelection {
  bool all = false;             ///< every layer and head of every site
  bool last_layers = true;      ///< the default: the heads of the last layer of each site
  std::vector<ShowItem> items;  ///< used if neither of the above is set; empty shows nothing
  std::vector<MeasuredItem> measured = {};  ///< in addition
};

/// Parses one argument each of "encoder", "decoder:1", "cross:0:3", "best", "cross:2:mean"
/// (config/attention_site.h), "all" and "none". Numbers are plain decimals. Throws UsageError
/// naming the bad argument and the expected form.
MapSelection parse_map_selection(const std::vector<std::string>& arguments);

/// Throws UsageError if the selection names a layer or head that the record does not have.
void check_map_selection(const MapSelection& selection, const ModelSummary& model);

// The meaning of head names for a sentence: the head that aligns best, or a mean of heads, by
// tokens or by words.

/// Replaces "best" in `name` by the cross-attention head that aligns this hypothesis best
/// (rank_by_alignment), within the named layer if there is one. If the hypothesis was already
/// aligned by a head, chosen over a whole run, that head is the best one of all layers. If no head
/// can be measured, for example without words, the result is head 0 of the last layer. Other names
/// are returned unchanged.
HeadName resolve_best(const HeadName& name, const AttentionRecord& record, std::size_t hypothesis);

/// Returns the mean of a layer's heads, or of all heads if no layer is given, [queries, keys].
std::vector<float> mean_weights(const AttentionMaps& maps, std::optional<int> layer);

/// Returns the same mean of the exact weights; empty if the model does not approximate weights.
std::vector<float> mean_exact_weights(const AttentionMaps& maps, std::optional<int> layer);

/// Returns the selected maps, grouped by site, each map once. Sites without maps are left out, and
/// so are those of a hypothesis that the record does not have. A sentence without words has no
/// maps. Named maps come in the model's order. The default begins with cross-attention and its best
/// head, which may be in any layer. By words (record/words.h), special symbols and punctuation are
/// entries of their own. Throws InputError if the maps do not fit the tokens.
std::vector<ShownMaps> select_maps(const AttentionRecord& record, std::size_t hypothesis,
                                   const MapSelection& selection, bool by_words = false);

/// A record whose maps hold a measure (service/why/measured_maps.h).
struct MeasuredRecord {
  AttentionRecord record;
  float largest = 1;  ///< the length that the number 1 stands for
};

/// Returns the maps that an item selects of a measured record. `item` must not name "best"
/// (resolve_best). A sentence without words has no maps.
std::vector<ShownMaps> select_measured_maps(const AttentionRecord& record, std::size_t hypothesis,
                                            const MeasuredItem& item, bool by_words = false);

/// Returns the record with words (record/words.h) in the place of tokens: the rows of a word's
/// tokens are averaged, its columns are summed. Vectors, metrics, search trees and the cells that a
/// pattern left out are not part of it; maps of mixtures and sparse maps are empty.
AttentionRecord merge_record_to_words(const AttentionRecord& record);

}  // namespace attn
