// The cells of maps on the terminal, and the line that says what their shades mean.
#pragma once

#include <optional>
#include <string>

#include "view/terminal/map/map_plan.h"
#include "view/terminal/styled_text.h"

namespace attn {

/// Printable text of a fixed width, and the escape sequence that paints it; empty: unpainted.
struct Cell {
  std::string text;
  std::string paint;
};

/// Two decimals at the right of `columns` columns, and without colours a shade behind them. A
/// masked weight is a dot.
Cell number_cell(std::optional<float> weight, int columns, ColorMode color);

/// A shade on one to three columns. With colours it says the weight's tenths, on three its
/// hundredths, if they are more than a trace. A masked weight is a dot. What is negative has warm
/// colours, or a sign.
Cell shade_cell(std::optional<float> weight, int columns, ColorMode color);

/// One column with a weight in its upper half and one in its lower; masked ones are unpainted, and
/// below the last row it is as below a weight of 0. Without colours a half is full or empty.
Cell half_cell(std::optional<float> upper, std::optional<float> lower, ColorMode color);

/// A cell that a pattern leaves out: nothing was computed there.
Cell left_out_cell(CellStyle form, int columns);

/// What a line about shades is made of.
struct ShadeLegend {
  CellStyle form = CellStyle::numbers;
  int cell_width = 0;         ///< columns
  bool rows_sum_to_1 = true;  ///< not so where an experiment has switched a head off
};

/// One line that says what shades mean, of at most `width` columns.
TextLine shade_legend_line(const ShadeLegend& scale, ColorMode color, int width);

}  // namespace attn
