// The axes of maps on the terminal: names, and the numbers that options take.
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
  /// The number beside each row label. With tokens, all are counted; with words, only those of the
  /// text (Word::text_index), so that special symbols have no number.
  std::vector<std::string> row_numbers;
  std::vector<std::string> column_numbers;
  /// heading above the row labels if there are no labels for the output tokens
  std::string row_title;
};

MapAxes map_axes(const AttentionRecord& record, std::size_t hypothesis, const ShownMaps& shown);

// The layout of an attention site's maps on the terminal: cell style, cell width, maps side by
// side.

enum class CellStyle {
  numbers,      ///< two decimals and a shade
  shades,       ///< one or two columns
  half_blocks,  ///< one column and half a line: two rows of the map share a line
};

/// The placement of the column names above a map.
enum class ColumnHeading {
  one_line,          ///< one line
  staggered,         ///< two lines, used alternately
  vertical,          ///< vertical, above a line with the numbers
  vertical_numbers,  ///< vertical numbers; the names are listed above the maps
  numbers_only,      ///< only numbers; the names are listed beside or below the map
};

/// The input of plan_maps().
struct MapLayoutRequest {
  int width = 80;        ///< columns
  int height = 0;        ///< lines that a single map may fill; 0: no limit
  int maps = 1;          ///< number of maps to show
  bool numbers = false;  ///< always show numbers; a map that is too wide is folded
};

/// Widths of the row labels, in columns.
struct RowLabelWidths {
  int number = 0;
  int inputs = 0;
  int outputs = 0;  ///< 0: no such labels
  int width = 0;    ///< total, including the spaces between and after the labels
};

struct MapLayout {
  CellStyle form = CellStyle::numbers;
  ColumnHeading heading = ColumnHeading::one_line;
  RowLabelWidths rows;
  int cell_width = 0;     ///< columns
  int block_columns = 0;  ///< columns of the map per block
  int blocks = 1;         ///< more than one: the map is folded
  int map_width = 0;      ///< width of a map including its title
  int maps_across = 1;    ///< maps side by side
  int heading_lines = 1;
  int key_lines = 0;     ///< lines of the list above the maps
  int list_columns = 0;  ///< width of the list of names on the right; 0: the list is below

  /// Returns the number of lines of one row of maps, without titles and the lists below.
  int lines(int map_rows, bool with_heading) const;
};

inline constexpr std::string_view key_start = "Columns:";
inline constexpr int map_gap = 2;         ///< columns between maps
inline constexpr int min_map_width = 14;  ///< room for "cross:2:0 best"

/// Chooses the richest form that fits: numbers if a map fits in one piece, otherwise shades. If the
/// height is limited, two rows may share a line. As many maps are placed side by side as the form
/// allows; cells are made wider only if that needs no more lines. A map that fits in no form is
/// folded.
MapLayout plan_maps(const MapAxes& axes, const MapLayoutRequest& room);

/// Returns "0 The 1 group" …, on lines of at most `columns` columns.
std::vector<std::string> listed_names(const MapAxes& axes, int columns, std::string_view start);

/// True if columns have names, not just numbers as Linformer's projected keys have.
bool has_names(const MapAxes& axes);

/// Returns "3 group", or only the number or the label if the other is empty.
std::string with_number(const std::string& number, const std::string& label);

/// Returns a label's characters for vertical text, at most `most`; ends with "⋮" if cut.
std::vector<std::string> vertical_label(const std::string& label, int most);

}  // namespace attn
