// The parts of a picture: all heads small and the color legend (map_panels.cpp), one head large
// (head_panel.cpp), and panels beside it (side_panels.cpp).
#pragma once

#include <optional>
#include <span>

#include "record/attention_record.h"
#include "record/shown_maps.h"
#include "view/map_labels.h"
#include "view/svg/picture.h"

namespace attn {

/// The data of a picture: one attention site of one record. Both must outlive it.
struct MapSource {
  AttentionSite site = AttentionSite::cross;
  const AttentionMaps& maps;
  MapLabels axes;
  const HeadVectors* relative_bias =
      nullptr;  ///< relative position bias (AttentionVectors); null: none
  std::optional<MapMeasure> measure = {};  ///< what the maps hold in the place of weights
  bool of_layers = false;                  ///< a measure has one map per layer
  float largest = 1;                       ///< the length that a measure draws as 1
};

/// The space that a panel may fill, in pixels.
struct PixelSize {
  double width = 0;
  double height = 0;
};

/// Draws small maps, one row per layer and one column per head, with the tokens on the outer axes
/// (every n-th one if there is no room for all). `selected`, if not null, gets a frame. The maps
/// are as large as the room allows, but never too small to read.
Panel overview_panel(const MapSource& source, const HeadIndex* selected,
                     const PixelSize& room = {});

/// The map drawn large: a head, the mean of a layer's heads (no head) or of all heads (no layer),
/// or a matrix that belongs to a head's weights.
struct LargeMap {
  std::optional<int> layer;
  std::optional<int> head;
  std::span<const float> weights;  ///< [queries · keys]
  std::vector<std::uint8_t> uncomputed =
      {};  ///< [queries · keys], as in AttentionMaps::uncomputed()
  MapPart part = MapPart::weights;
};

/// Draws one map with every token, a number in each cell where it fits, and each cell's exact
/// weight and tokens as a tooltip.
Panel head_panel(const MapSource& source, const LargeMap& large);

/// Returns the additional panels of a large map: E and F for Linformer, the exact weights and the
/// difference for Performer (for a mean, `exact_mean` is used), the tokens sorted by hash for LSH,
/// and the biases of a head with a relative position bias.
std::vector<Panel> side_panels(const MapSource& source, const LargeMap& large,
                               std::span<const float> exact_mean);

/// Draws the LSH buckets of one head's tokens, one strip per hashing round.
Panel lsh_bucket_panel(const MapSource& source, HeadIndex place);

/// Draws two plots, one above the other: the bias that one head adds to a score by distance, key −
/// query, and the head's attention weight by distance.
Panel relative_bias_panel(const MapSource& source, HeadIndex place);

/// Draws the color scale from 0 to 1, and samples of special cells and labels that occur in these
/// maps: masked cells, cells that a pattern leaves out, weights that are not numbers, tokens that
/// continue a word.
Panel color_legend_panel(const MapSource& source);

}  // namespace attn
