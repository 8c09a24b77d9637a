// A picture's parts: all heads (overview_panel.cpp), one (head_panel.cpp), what stands beside it
// (beside_panels.cpp, hash_panel.cpp, distance_panel.cpp), scale_panel.cpp.
#pragma once

#include <optional>
#include <span>

#include "record/attention_record.h"
#include "record/shown_maps.h"
#include "view/map_view.h"
#include "view/svg/picture_frame.h"

namespace attn {

/// What a picture is drawn from: one kind of one record. Both outlive it.
struct MapSubject {
  AttentionKind kind = AttentionKind::cross;
  const AttentionMaps& maps;
  GridAxes axes;
  const HeadVectors* distances = nullptr;  ///< of relative positions (AttentionVectors); null: none
};

/// Pixels that a panel may fill.
struct Room {
  double width = 0;
  double height = 0;
};

/// Small maps, a row a layer and a column a head, with the tokens on the outer axes (every n-th one
/// where there is no room for all). `chosen`, if not null, gets a frame. The maps are as large as
/// the room allows, but never smaller than can be read.
Panel overview_panel(const MapSubject& subject, const HeadPlace* chosen, const Room& room = {});

/// What is drawn large: a head, or the mean of a layer's heads (no head) or of all (no layer), or
/// what stands beside its weights.
struct LargeMap {
  std::optional<int> layer;
  std::optional<int> head;
  std::span<const float> weights;  ///< [queries · keys]
  std::vector<std::uint8_t> left_out =
      {};  ///< [queries · keys] as AttentionMaps::left_out() has it
  MapPart part = MapPart::weights;
};

/// One map with every token, a number in each cell where it fits, and under the pointer each
/// cell's exact weight and tokens.
Panel head_panel(const MapSubject& subject, const LargeMap& large);

/// What linformer, performer and lsh have beside a large map, each panel of its own: E and F; the
/// exact weights and the difference, which a mean is given; the order by hash. Of a head with
/// relative positions its biases.
std::vector<Panel> beside_panels(const MapSubject& subject, const LargeMap& large,
                                 std::span<const float> exact_mean);

/// Where lsh has put the tokens in one head: a strip a round.
Panel hash_panel(const MapSubject& subject, HeadPlace place);

/// What one head of `subject.distances` adds to a score by distance, key − query, and where its
/// weight lies, two plots one below the other.
Panel distance_panel(const MapSubject& subject, HeadPlace place);

/// The colour scale from 0 to 1, and samples of what else occurs in these maps: masked cells, cells
/// that a pattern leaves out, weights that are no numbers, pieces that go on with a word.
Panel scale_panel(const MapSubject& subject);

}  // namespace attn
