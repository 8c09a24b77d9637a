// The largest weights of each row as a list, for maps too large to look at cell by cell.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/attention_site.h"
#include "record/attention_maps.h"
#include "record/shown_maps.h"
#include "view/terminal/map/map_plan.h"
#include "view/terminal/styled_text.h"

namespace attn {

/// Widths in columns.
struct TopWeightsLayout {
  RowLabelWidths rows;
  int count = 1;             ///< entries a row of the map
  int number = 0;            ///< of an entry's column number
  int name = 0;              ///< of its name
  int entries_per_line = 1;  ///< entries on a line
  int map_width = 0;         ///< of one map
  int maps_across = 1;       ///< maps side by side

  /// Lines of one row of maps, with the titles.
  int lines(int map_rows) const;
};

/// `count` entries a row, or as many as there are columns.
TopWeightsLayout plan_top_weights(const MapAxes& axes, const MapLayoutRequest& room, int count);

/// The maps side by side, each under its title: in each row the columns of the largest weights, the
/// first of equals before the others. What would be written 0.00 is left out.
std::vector<TextLine> draw_top_weights(const MapAxes& axes, std::span<const ShownMap> maps,
                                       const TopWeightsLayout& layout, ColorMode color);

// Where lsh has put the tokens of a sentence, and what it found, on a terminal.

/// Of one head: a line a round with the tokens by bucket, and one that says how many rows met their
/// best key. `labels` are the tokens'; no line is wider than `width`.
std::string lsh_bucket_text(const AttentionMaps& maps, const HeadName& head,
                            std::span<const std::string> labels, int width);

}  // namespace attn
