// A picture's parts: all heads (overview_panel.cpp), one (head_panel.cpp), what stands beside it
// (side_panels.cpp, lsh_bucket_panel.cpp, relative_bias_panel.cpp), color_legend_panel.cpp.
#pragma once

#include <optional>
#include <span>

#include "record/attention_record.h"
#include "record/shown_maps.h"
#include "view/map_labels.h"
#include "view/svg/picture.h"

namespace attn {

/// What a picture is drawn from: one kind of one record. Both outlive it.
struct MapSource {
  AttentionSite site = AttentionSite::cross;
  const AttentionMaps& maps;
  MapLabels axes;
  const HeadVectors* relative_bias =
      nullptr;  ///< of relative positions (AttentionVectors); null: none
};

/// Pixels that a panel may fill.
struct PixelSize {
  double width = 0;
  double height = 0;
};

/// Small maps, a row a layer and a column a head, with the tokens on the outer axes (every n-th one
/// where there is no room for all). `chosen`, if not null, gets a frame. The maps are as large as
/// the room allows, but never smaller than can be read.
Panel overview_panel(const MapSource& source, const HeadIndex* selected,
                     const PixelSize& room = {});

/// What is drawn large: a head, or the mean of a layer's heads (no head) or of all (no layer), or
/// what stands beside its weights.
struct LargeMap {
  std::optional<int> layer;
  std::optional<int> head;
  std::span<const float> weights;  ///< [queries · keys]
  std::vector<std::uint8_t> uncomputed =
      {};  ///< [queries · keys] as AttentionMaps::uncomputed() has it
  MapPart part = MapPart::weights;
};

/// One map with every token, a number in each cell where it fits, and under the pointer each
/// cell's exact weight and tokens.
Panel head_panel(const MapSource& source, const LargeMap& large);

/// What linformer, performer and lsh have beside a large map, each panel of its own: E and F; the
/// exact weights and the difference, which a mean is given; the order by hash. Of a head with
/// relative positions its biases.
std::vector<Panel> side_panels(const MapSource& source, const LargeMap& large,
                               std::span<const float> exact_mean);

/// Where lsh has put the tokens in one head: a strip a round.
Panel lsh_bucket_panel(const MapSource& source, HeadIndex place);

/// What one head of `subject.distances` adds to a score by distance, key − query, and where its
/// weight lies, two plots one below the other.
Panel relative_bias_panel(const MapSource& source, HeadIndex place);

/// The colour scale from 0 to 1, and samples of what else occurs in these maps: masked cells, cells
/// that a pattern leaves out, weights that are no numbers, pieces that go on with a word.
Panel color_legend_panel(const MapSource& source);

}  // namespace attn
