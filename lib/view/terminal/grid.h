// One attention map as lines of text: labels, numbers and shades, folded to a width.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "view/map_view.h"
#include "view/terminal/style.h"

namespace attn {

/// A line with the columns it takes on a terminal: escape sequences take none.
struct TextLine {
  std::string text;
  int columns = 0;

  void add(std::string_view printable_text);
  void add_escape(std::string_view escape) { text += escape; }
  /// Blanks up to `target` columns; nothing where the line is as long already.
  void pad_to(int target);
};

/// Widths that all heads of one kind share, in columns of the terminal.
struct GridLayout {
  int reads = 0;      ///< of the first row label
  int writes = 0;     ///< of the second one; 0: there is none
  int row_label = 0;  ///< of both with what stands between and after
  int cell = 0;
  int block_columns = 0;  ///< columns of the map in one block
  int blocks = 0;
  int width = 0;  ///< of the widest line
};

/// The layout for a window: in one block if it can be, else in blocks of nearly equal size.
GridLayout plan_grid(const GridAxes& axes, int width);

/// The lines of one head's map; `weights` is [rows · columns], row-major.
std::vector<TextLine> draw_grid(const GridAxes& axes, std::span<const float> weights,
                                const GridLayout& layout, ColorMode color);

}  // namespace attn
