// The cells of maps on the terminal, and the line that explains their shades.
#pragma once

#include <optional>
#include <string>

#include "view/terminal/map/map_plan.h"
#include "view/terminal/styled_text.h"

namespace attn {

/// Printable text of a fixed width, and the escape sequence that colors it; empty: not colored.
struct Cell {
  std::string text;
  std::string paint;
};

/// Returns two decimals, right-aligned in `columns` columns, followed by a shade if there are no
/// colors. A masked weight is a dot.
Cell number_cell(std::optional<float> weight, int columns, ColorMode color);

/// Returns a shade one to three columns wide. With colors it contains the weight's tenths, or its
/// hundredths in three columns, unless the weight is only a trace. A masked weight is a dot.
/// Negative weights have warm colors, or a sign.
Cell shade_cell(std::optional<float> weight, int columns, ColorMode color);

/// Returns one column with a weight in its upper half and another in its lower half. Masked weights
/// are not colored; a half below the last row looks like a weight of 0. Without colors a half is
/// either full or empty.
Cell half_cell(std::optional<float> upper, std::optional<float> lower, ColorMode color);

/// Returns a cell that a sparse pattern leaves out: nothing was computed there.
Cell left_out_cell(CellStyle form, int columns);

/// The contents of a legend for shades.
struct ShadeLegend {
  CellStyle form = CellStyle::numbers;
  int cell_width = 0;         ///< columns
  bool rows_sum_to_1 = true;  ///< false if an experiment has switched a head off
};

/// Returns one line of at most `width` columns that explains the shades.
TextLine shade_legend_line(const ShadeLegend& scale, ColorMode color, int width);

}  // namespace attn
