// Maps side by side as lines of text: names and numbers on the axes, and the cells.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "record/shown_maps.h"
#include "view/terminal/map/map_plan.h"
#include "view/terminal/styled_text.h"

namespace attn {

/// The maps, at most layout.beside of them, each under its title; they share the names of the rows.
/// Without `with_heading` the columns are those of the maps above.
std::vector<TextLine> draw_map_grid(const MapAxes& axes, std::span<const ShownMap> maps,
                                    const MapLayout& layout, ColorMode color, bool with_heading);

/// Begins a line: what stands left of the maps. Row −1: over the names of the rows.
TextLine row_start(const MapAxes& axes, const RowLabelWidths& columns, int row);

inline constexpr std::string_view aligns_best = " · aligns best";

/// "cross:2:1", and that it aligns best where it does and there is room.
TextLine map_title(const ShownMap& map, int width, ColorMode color);

}  // namespace attn
