// Which maps are shown: KIND[:LAYER[:HEAD]], "best", "cross:2:mean", read and checked against a
// model.
#pragma once

#include <string>
#include <vector>

#include "config/attention_site.h"
#include "record/attention_record.h"

namespace attn {

/// A kind, a layer of it or one head.
using ShowItem = HeadName;

struct MapSelection {
  bool all = false;             ///< every layer and head of every kind
  bool last_layers = true;      ///< the default: the last layer's heads of each kind
  std::vector<ShowItem> items;  ///< used when neither of the above is set; empty: show nothing
};

/// Reads "encoder", "decoder:1", "cross:0:3", "best", "cross:2:mean" (config/attention_site.h), "all",
/// "none", one each. Numbers are plain decimals.
/// UsageError naming the bad one and the form expected.
MapSelection parse_map_selection(const std::vector<std::string>& arguments);

/// UsageError where the selection names a layer or head that the record does not have
/// ("cross:3: layer 3 is asked for, but the model's decoder has layers 0 to 2").
void check_map_selection(const MapSelection& selection, const ModelSummary& model);

}  // namespace attn
