// How a kind's maps are laid out on the terminal: what a cell is, how wide, how many side by side.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "view/terminal/map/map_axes.h"

namespace attn {

enum class CellForm {
  numbers,  ///< two decimals and a shade
  shades,   ///< one or two columns
  halves,   ///< a column and half a line: two rows of the map share a line
};

/// How the names of the columns stand over a map.
enum class Heading {
  level,      ///< one line
  staggered,  ///< two lines, taking turns
  turned,     ///< downwards, over a line with the numbers
  keyed,      ///< numbers downwards; the names are a list above the maps
  listed,     ///< numbers alone; the names are a list beside or below the map
};

/// What a layout is made for.
struct MapRoom {
  int width = 80;        ///< columns
  int height = 0;        ///< lines that one map alone may fill; 0: any
  int maps = 1;          ///< that are to be shown
  bool numbers = false;  ///< in any case, folded where the map is wider
};

/// Columns of the rows' labels.
struct RowLabelColumns {
  int number = 0;
  int reads = 0;
  int writes = 0;  ///< 0: there is none
  int width = 0;   ///< of all, with what stands between and after
};

struct MapLayout {
  CellForm form = CellForm::numbers;
  Heading heading = Heading::level;
  RowLabelColumns rows;
  int cell = 0;           ///< columns
  int block_columns = 0;  ///< columns of the map in one block
  int blocks = 1;         ///< more than one: the map is folded
  int slot = 0;           ///< columns of a map with its title
  int beside = 1;         ///< maps side by side
  int heading_lines = 1;
  int key_lines = 0;     ///< of the list above the maps
  int list_columns = 0;  ///< for the list of names at the right; 0: it stands below

  /// Lines of one row of maps, without titles and what is listed below.
  int lines(int map_rows, bool with_heading) const;
};

inline constexpr std::string_view key_start = "Columns:";
inline constexpr int map_gap = 2;           ///< columns between maps
inline constexpr int least_map_width = 14;  ///< room for "cross:2:0 best"

/// The richest form that fits: numbers where a map fits in one piece, else shades, and a map that
/// is to fit a height may share lines between rows. Of several maps as many stand side by side as
/// the form allows, in cells as wide as do not need more lines. What fits nowhere is folded.
MapLayout plan_maps(const MapAxes& axes, const MapRoom& room);

/// "0 The  1 group", on lines of at most `columns` columns.
std::vector<std::string> listed_names(const MapAxes& axes, int columns, std::string_view start);

/// Whether columns have names, and not numbers alone, as mixtures do.
bool has_names(const MapAxes& axes);

/// "3 group", or the one of both that is there.
std::string numbered(const std::string& number, const std::string& label);

/// A label's characters as they stand below each other, at most `most`; "⋮" where it was cut.
std::vector<std::string> turned_label(const std::string& label, int most);

}  // namespace attn
