// Maps side by side as lines of text: names and numbers on the axes, and the cells.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "record/shown_maps.h"
#include "view/terminal/map/map_plan.h"
#include "view/terminal/styled_text.h"

namespace attn {

/// Draws the maps side by side, at most layout.maps_across of them, each under its title. They
/// share the row names. Without `with_heading` the column names are those of the maps above.
std::vector<TextLine> draw_map_grid(const MapAxes& axes, std::span<const ShownMap> maps,
                                    const MapLayout& layout, ColorMode color, bool with_heading);

/// Begins a line with everything to the left of the maps. Row −1 is the heading above the row
/// names.
TextLine row_start(const MapAxes& axes, const RowLabelWidths& columns, int row);

inline constexpr std::string_view aligns_best = " · aligns best";

/// Returns "cross:2:1", with "best" after the head that aligns best if there is room.
TextLine map_title(const ShownMap& map, int width, ColorMode color);

}  // namespace attn
