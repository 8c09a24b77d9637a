// Maps of measures in the place of weights, as --show names them: "cross:2:1@value".
#pragma once

#include <string>

#include "config/attention_site.h"
#include "record/shown_maps.h"

namespace attn {

/// A map of a measure in the place of weights: "cross:2:1@value", "cross:2@alti". Without a head it
/// is one map per layer.
struct MeasuredItem {
  HeadName name;
  MapMeasure measure = MapMeasure::value;

  bool per_head() const { return name.head || name.pick == HeadSelector::best; }
  bool operator==(const MeasuredItem&) const = default;
};

/// "cross:2:1@value".
std::string to_string(const MeasuredItem& item);

/// Parses such a name. Throws UsageError naming the part that is wrong; the mean of several heads
/// has no measure.
MeasuredItem parse_measured_item(const std::string& text);

}  // namespace attn
