// The largest weights of each row as a list, for maps too large to read cell by cell.
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
  int count = 1;             ///< entries per row of the map
  int number = 0;            ///< width of an entry's column number
  int name = 0;              ///< width of an entry's name
  int entries_per_line = 1;  ///< entries on a line
  int map_width = 0;         ///< width of one map
  int maps_across = 1;       ///< maps side by side

  /// Returns the number of lines of one row of maps, including titles.
  int lines(int map_rows) const;
};

/// Plans `count` entries per row, or as many as there are columns.
TopWeightsLayout plan_top_weights(const MapAxes& axes, const MapLayoutRequest& room, int count);

/// Draws the maps side by side, each under its title. Each row lists the columns with the largest
/// weights; of equal weights the first comes first. Weights that would print as 0.00 are left out.
std::vector<TextLine> draw_top_weights(const MapAxes& axes, std::span<const ShownMap> maps,
                                       const TopWeightsLayout& layout, ColorMode color);

// The LSH buckets of a sentence's tokens, and how many best keys they found, on a terminal.

/// Returns one line per hashing round of one head with its tokens grouped by bucket, and a line
/// that says how many rows found their best key. `labels` are the tokens' labels; no line is wider
/// than `width`.
std::string lsh_bucket_text(const AttentionMaps& maps, const HeadName& head,
                            std::span<const std::string> labels, int width);

}  // namespace attn
