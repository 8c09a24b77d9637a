// What stands on the axes of maps on the terminal: names, and the numbers that options take.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "record/attention_record.h"
#include "record/shown_maps.h"
#include "view/map_labels.h"

namespace attn {

struct MapAxes {
  MapLabels labels;
  /// Beside each label. By tokens, all count; by words, those of the text (Word::text_index), so
  /// that special symbols have none.
  std::vector<std::string> row_numbers;
  std::vector<std::string> column_numbers;
  std::string row_title;  ///< over the rows' labels where there are no labels of what is written
};

MapAxes map_axes(const AttentionRecord& record, std::size_t hypothesis, const ShownMaps& shown);

// How a kind's maps are laid out on the terminal: what a cell is, how wide, how many side by side.

enum class CellStyle {
  numbers,      ///< two decimals and a shade
  shades,       ///< one or two columns
  half_blocks,  ///< a column and half a line: two rows of the map share a line
};

/// How the names of the columns stand over a map.
enum class ColumnHeading {
  one_line,          ///< one line
  staggered,         ///< two lines, taking turns
  vertical,          ///< downwards, over a line with the numbers
  vertical_numbers,  ///< numbers downwards; the names are a list above the maps
  numbers_only,      ///< numbers alone; the names are a list beside or below the map
};

/// What a layout is made for.
struct MapLayoutRequest {
  int width = 80;        ///< columns
  int height = 0;        ///< lines that one map alone may fill; 0: any
  int maps = 1;          ///< that are to be shown
  bool numbers = false;  ///< in any case, folded where the map is wider
};

/// Columns of the rows' labels.
struct RowLabelWidths {
  int number = 0;
  int inputs = 0;
  int outputs = 0;  ///< 0: there is none
  int width = 0;    ///< of all, with what stands between and after
};

struct MapLayout {
  CellStyle form = CellStyle::numbers;
  ColumnHeading heading = ColumnHeading::one_line;
  RowLabelWidths rows;
  int cell_width = 0;     ///< columns
  int block_columns = 0;  ///< columns of the map in one block
  int blocks = 1;         ///< more than one: the map is folded
  int map_width = 0;      ///< columns of a map with its title
  int maps_across = 1;    ///< maps side by side
  int heading_lines = 1;
  int key_lines = 0;     ///< of the list above the maps
  int list_columns = 0;  ///< for the list of names at the right; 0: it stands below

  /// Lines of one row of maps, without titles and what is listed below.
  int lines(int map_rows, bool with_heading) const;
};

inline constexpr std::string_view key_start = "Columns:";
inline constexpr int map_gap = 2;         ///< columns between maps
inline constexpr int min_map_width = 14;  ///< room for "cross:2:0 best"

/// The richest form that fits: numbers where a map fits in one piece, else shades, and a map that
/// is to fit a height may share lines between rows. Of several maps as many stand side by side as
/// the form allows, in cells as wide as do not need more lines. What fits nowhere is folded.
MapLayout plan_maps(const MapAxes& axes, const MapLayoutRequest& room);

/// "0 The  1 group", on lines of at most `columns` columns.
std::vector<std::string> listed_names(const MapAxes& axes, int columns, std::string_view start);

/// Whether columns have names, and not numbers alone, as mixtures do.
bool has_names(const MapAxes& axes);

/// "3 group", or the one of both that is there.
std::string with_number(const std::string& number, const std::string& label);

/// A label's characters as they stand below each other, at most `most`; "⋮" where it was cut.
std::vector<std::string> vertical_label(const std::string& label, int most);

}  // namespace attn
