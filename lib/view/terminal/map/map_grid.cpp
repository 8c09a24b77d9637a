#include "view/terminal/map/map_grid.h"

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "config/attention_site.h"
#include "view/terminal/map/map_cells.h"

namespace attn {
namespace {

constexpr std::string_view arrow = " → ";
constexpr std::string_view reads_title = "reads";
constexpr std::string_view writes_title = "writes";
constexpr int every_number = 5;  // interval of the numbers if there is no room for all
constexpr int number_columns = 5;

/// Adds `text`, cut or padded with spaces to `columns`.
void add_field(TextLine& line, std::string_view text, int columns) {
  const int end = line.columns + columns;
  line.add(truncate_to_width(text, columns));
  line.pad_to(end);
}

void add_right(TextLine& line, std::string_view text, int columns) {
  const int end = line.columns + columns;
  const std::string fitted = truncate_to_width(text, columns);
  line.pad_to(end - display_width(fitted));
  line.add(fitted);
}

/// The columns begin … end − 1 of a folded map.
struct Block {
  int begin = 0;
  int end = 0;
};

class MapGridDrawer {
 public:
  MapGridDrawer(const MapAxes& axes, std::span<const ShownMap> maps, const MapLayout& layout,
                ColorMode color)
      : axes_(axes), maps_(maps), layout_(layout), color_(color) {}

  std::vector<TextLine> draw(bool with_heading) {
    const int keys = to_int(axes_.labels.columns.size());
    const bool keyed = layout_.heading == ColumnHeading::vertical_numbers;
    if (keyed && with_heading && has_names(axes_)) add_names(key_start);
    if (layout_.heading != ColumnHeading::numbers_only) draw_titles();
    for (int block = 0; block < layout_.blocks; ++block) {
      block_ = {block * layout_.block_columns, std::min(keys, (block + 1) * layout_.block_columns)};
      if (block > 0) {
        TextLine note;
        note.add(fmt::format("… continued (part {} of {})", block + 1, layout_.blocks));
        lines_.push_back(std::move(note));
      }
      if (with_heading || keyed || block > 0) draw_heading();
      draw_rows();
    }
    if (layout_.heading == ColumnHeading::numbers_only) add_list();
    return std::move(lines_);
  }

 private:
  int start_of(std::size_t map) const {
    return layout_.rows.width + to_int(map) * (layout_.map_width + map_gap);
  }

  void draw_titles() {
    TextLine line;
    for (std::size_t map = 0; map < maps_.size(); ++map) {
      line.pad_to(start_of(map));
      line.add(map_title(maps_[map], layout_.map_width, color_));
    }
    lines_.push_back(std::move(line));
  }

  const std::string& label(int column) const { return at(axes_.labels.columns, column); }
  const std::string& number(int column) const { return at(axes_.column_numbers, column); }

  void draw_heading() {
    switch (layout_.heading) {
      case ColumnHeading::one_line:
        return for_maps(titled(), [&](TextLine& line) { add_level(line); });
      case ColumnHeading::staggered:
        for_maps({}, [&](TextLine& line) { add_staggered(line, 0); });
        return for_maps(titled(), [&](TextLine& line) { add_staggered(line, 1); });
      case ColumnHeading::vertical:
        for (int level = layout_.heading_lines - 1; level-- > 0;) {
          for_maps({}, [&](TextLine& line) { add_vertical(line, level); });
        }
        return for_maps(titled(), [&](TextLine& line) { add_numbers(line); });
      case ColumnHeading::vertical_numbers:
        for (int level = layout_.heading_lines - 1; level > 0; --level) {
          for_maps({}, [&](TextLine& line) { add_digits(line, level); });
        }
        return for_maps(titled(), [&](TextLine& line) { add_digits(line, 0); });
      case ColumnHeading::numbers_only:
        TextLine line = map_title(maps_.front(), layout_.rows.width - 1, color_);
        return for_maps(std::move(line), [&](TextLine& all) { add_numbers(all); });
    }
  }

  TextLine titled() const { return row_start(axes_, layout_.rows, -1); }

  /// Builds a line by adding the same part for every map.
  template <typename Add>
  void for_maps(TextLine line, Add&& add) {
    for (std::size_t map = 0; map < maps_.size(); ++map) {
      line.pad_to(start_of(map));
      add(line);
    }
    lines_.push_back(std::move(line));
  }

  /// Adds every name above its column's numbers, which end one column before the next cell.
  void add_level(TextLine& line) const {
    for (int column = block_.begin; column < block_.end; ++column) {
      add_right(line, with_number(number(column), label(column)), layout_.cell_width - 1);
      line.add(" ");
    }
  }

  /// Adds every second name, from the left edge of its cell across the next cell; the last one ends
  /// with its map.
  void add_staggered(TextLine& line, int first) const {
    const int start = line.columns;
    const int end = start + (block_.end - block_.begin) * layout_.cell_width;
    for (int column = block_.begin + first; column < block_.end; column += 2) {
      const std::string name =
          truncate_to_width(with_number(number(column), label(column)), 2 * layout_.cell_width - 1);
      const int over = start + (column - block_.begin + 1) * layout_.cell_width - number_columns;
      const int free = line.columns == start ? start : line.columns + 1;
      const int from = std::max(free, std::min(over, end - display_width(name)));
      line.pad_to(from);
      line.add(truncate_to_width(name, end - from));
    }
  }

  /// Adds one character of each vertical name; level 0 is the lowest.
  void add_vertical(TextLine& line, int level) const {
    for (int column = block_.begin; column < block_.end; ++column) {
      const auto characters = vertical_label(label(column), layout_.heading_lines - 1);
      const int index = to_int(characters.size()) - 1 - level;
      add_right(line, index >= 0 ? at(characters, index) : "", layout_.cell_width);
    }
  }

  /// Adds one digit of each number; level 0 is the units.
  void add_digits(TextLine& line, int level) const {
    for (int column = block_.begin; column < block_.end; ++column) {
      const std::string& digits = number(column);
      const int index = to_int(digits.size()) - 1 - level;
      line.add(index >= 0 ? digits.substr(to_size(index), 1) : " ");
    }
  }

  /// Adds the numbers of all columns, or of every fifth.
  void add_numbers(TextLine& line) const {
    const int start = line.columns;
    bool all = true;
    for (int column = block_.begin; column < block_.end; ++column) {
      all = all && to_int(number(column).size()) <= std::max(1, layout_.cell_width - 1);
    }
    for (int column = block_.begin; column < block_.end; ++column) {
      const std::string& text = number(column);
      if (text.empty() || (!all && std::stoi(text) % every_number != 0)) continue;
      const int from = start + (column - block_.begin) * layout_.cell_width;
      const int end = start + (block_.end - block_.begin) * layout_.cell_width;
      if (from + to_int(text.size()) > end) continue;
      line.pad_to(text.size() == 1 ? from + layout_.cell_width - 1 : from);
      line.add(text);
    }
  }

  std::optional<float> weight(const ShownMap& map, int row, int column) const {
    const auto columns = axes_.labels.columns.size();
    const float found = map.weights[to_size(row) * columns + to_size(column)];
    if (axes_.labels.is_masked(to_size(row), to_size(column), found)) return std::nullopt;
    if (is_left_out(map, row, column)) return std::nullopt;
    return found;
  }

  bool is_left_out(const ShownMap& map, int row, int column) const {
    return axes_.labels.is_left_out(map.uncomputed, to_size(row), to_size(column));
  }

  Cell cell(const ShownMap& map, int row, int column) const {
    const std::optional<float> here = weight(map, row, column);
    if (layout_.form != CellStyle::half_blocks && is_left_out(map, row, column)) {
      return left_out_cell(layout_.form, layout_.cell_width);
    }
    if (layout_.form == CellStyle::numbers) return number_cell(here, layout_.cell_width, color_);
    if (layout_.form == CellStyle::shades) return shade_cell(here, layout_.cell_width, color_);
    const bool more = row + 1 < to_int(axes_.labels.inputs.size());
    return half_cell(here, more ? weight(map, row + 1, column) : std::nullopt, color_);
  }

  void draw_rows() {
    const int rows = to_int(axes_.labels.inputs.size());
    const int step = layout_.form == CellStyle::half_blocks ? 2 : 1;
    for (int row = 0; row < rows; row += step) {
      TextLine line = step == 2 ? halves_start(row) : row_start(axes_, layout_.rows, row);
      for (std::size_t map = 0; map < maps_.size(); ++map) {
        line.pad_to(start_of(map));
        draw_cells(line, maps_[map], row);
      }
      lines_.push_back(std::move(line));
    }
  }

  void draw_cells(TextLine& line, const ShownMap& map, int row) const {
    std::string paint;  // the escape sequence in effect
    for (int column = block_.begin; column < block_.end; ++column) {
      const Cell drawn = cell(map, row, column);
      if (drawn.paint != paint) {
        if (!paint.empty()) line.add_escape("\x1b[0m");
        line.add_escape(drawn.paint);
      }
      paint = drawn.paint;
      line.add(drawn.text);
    }
    if (!paint.empty()) line.add_escape("\x1b[0m");
  }

  /// Begins a line with the names of its two rows.
  TextLine halves_start(int row) const {
    const std::vector<std::string>& names =
        axes_.labels.outputs.empty() ? axes_.labels.inputs : axes_.labels.outputs;
    TextLine line;
    for (int half = row; half < row + 2 && half < to_int(names.size()); ++half) {
      add_right(line, at(axes_.row_numbers, half), layout_.rows.number);
      line.add(" ");
      add_field(line, at(names, half), layout_.rows.inputs + 1);
    }
    line.pad_to(layout_.rows.width);
    return line;
  }

  /// Adds the names of the columns to the right of the map, column by column, or below it.
  void add_list() {
    const int keys = to_int(axes_.labels.columns.size());
    const int lines = to_int(lines_.size());
    const int across = (keys + lines - 1) / lines;
    const int columns = (layout_.list_columns + 1) / across - 1;
    if (layout_.list_columns == 0 || columns < 6) return add_names("");
    for (int column = 0; column < keys; ++column) {
      TextLine& line = at(lines_, column % lines);
      line.pad_to(start_of(1) + column / lines * (columns + 1));
      line.add(truncate_to_width(with_number(number(column), label(column)), columns));
    }
  }

  void add_names(std::string_view start) {
    const int width = layout_.heading == ColumnHeading::vertical_numbers
                          ? layout_.list_columns
                          : start_of(1) - map_gap + layout_.list_columns;
    for (const std::string& names : listed_names(axes_, width, start)) {
      lines_.emplace_back().add(names);
    }
  }

  const MapAxes& axes_;
  std::span<const ShownMap> maps_;
  const MapLayout& layout_;
  ColorMode color_;
  Block block_;
  std::vector<TextLine> lines_;
};

}  // namespace

std::vector<TextLine> draw_map_grid(const MapAxes& axes, std::span<const ShownMap> maps,
                                    const MapLayout& layout, ColorMode color, bool with_heading) {
  return MapGridDrawer(axes, maps, layout, color).draw(with_heading);
}

TextLine row_start(const MapAxes& axes, const RowLabelWidths& columns, int row) {
  const bool both = columns.outputs > 0;
  TextLine line;
  add_right(line, row < 0 ? "" : at(axes.row_numbers, row), columns.number);
  line.add(" ");
  if (row < 0) {
    add_field(line, both ? reads_title : axes.row_title, columns.inputs);
  } else {
    add_field(line, at(axes.labels.inputs, row), columns.inputs);
  }
  if (both) {
    line.add(arrow);
    add_field(line, row < 0 ? writes_title : at(axes.labels.outputs, row), columns.outputs);
  }
  line.pad_to(columns.width);
  return line;
}

namespace {

/// Returns "encoder:0:1", or the title of a matrix beside it: "exact 0:1", "0:1 − exact", "E of
/// layer 0".
std::string part_title(const ShownMap& map) {
  const std::string name = to_string(map.name);
  if (map.measure) return fmt::format("{}@{}", name, measure_key(*map.measure));
  const std::string place = name.substr(name.find(':') + 1);
  switch (map.part) {
    case MapPart::exact:
      return "exact " + place;
    case MapPart::difference:
      return place + " − exact";
    case MapPart::projected_keys:
      return fmt::format("E of layer {}", *map.name.layer);
    case MapPart::projected_values:
      return fmt::format("F of layer {}", *map.name.layer);
    case MapPart::weights:
      break;
  }
  return name;
}

}  // namespace

TextLine map_title(const ShownMap& map, int width, ColorMode color) {
  std::string text = part_title(map);
  if (map.best) {
    for (const std::string_view word : {std::string_view(" best"), aligns_best}) {
      const std::string longer = to_string(map.name).append(word);
      if (display_width(longer) <= width) text = longer;
    }
  }
  TextLine line;
  if (color != ColorMode::none) line.add_escape("\x1b[1m");
  line.add(truncate_to_width(text, width));
  if (color != ColorMode::none) line.add_escape("\x1b[0m");
  return line;
}

}  // namespace attn
