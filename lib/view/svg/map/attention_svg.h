// Attention as an editable SVG picture for papers, slides and web pages.
//
// Every picture uses the same color scale from 0 to 1 and shows its legend, names both axes, is
// readable in light and dark viewers and in gray print, and holds the exact weights
// (docs/pictures.md says where). It is a valid standalone XML file in UTF-8, with the sentence as
// real text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "record/attention_record.h"
#include "record/shown_maps.h"

namespace attn {

/// Selects the attention that a picture shows.
struct AttentionSvgOptions {
  AttentionSite site = AttentionSite::cross;
  /// index into the record's hypotheses, best first; ignored for the encoder's maps
  std::size_t hypothesis = 0;
  std::optional<int> layer = std::nullopt;  ///< layer of the head drawn large; absent: the last one
  std::optional<int> head = std::nullopt;   ///< head drawn large; absent: 0
  /// Drawn large instead of a head: the mean of the layer's heads, or of all heads if no layer is
  /// given, [queries · keys].
  std::span<const float> mean = {};
  std::span<const float> exact_mean = {};  ///< the same mean of Performer's exact weights
  std::optional<MapMeasure> measure = {};  ///< what the record's maps hold in the place of weights
  bool of_layers = false;                  ///< a measure has one map per layer
  float largest = 1;                       ///< the length that a measure draws as 1
};

/// Draws every head of the attention site small, one row per layer and one column per head, and one
/// of them large, with tokens on both axes and a number in each cell where it fits. A record
/// without tokens gives a picture that says so. Throws UsageError if the record has no such
/// hypothesis, layer or head.
std::string attention_svg(const AttentionRecord& record, const AttentionSvgOptions& choice = {});

}  // namespace attn
