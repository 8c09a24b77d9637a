#include "view/terminal/map/map_plan.h"

#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "record/words.h"

namespace attn {
namespace {

std::vector<std::string> numbers_to(std::size_t count) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(fmt::format("{}", i));
  return numbers;
}

void add_words(const std::vector<Word>& words, std::vector<std::string>& labels,
               std::vector<std::string>& numbers) {
  const std::vector<Word> counted = text_words(words);
  auto next = counted.begin();
  for (const Word& word : words) {
    labels.push_back(printable(word.text));
    const bool counts = next != counted.end() && next->first == word.first;
    numbers.push_back(counts ? fmt::format("{}", (next++)->text_index) : "");
  }
}

/// Numbers Linformer's projected keys, which have no names.
void number_mixtures(MapAxes& axes, int count) {
  axes.labels.columns.assign(to_size(count), "");
  axes.column_numbers = numbers_to(to_size(count));
}

}  // namespace

MapAxes map_axes(const AttentionRecord& record, std::size_t hypothesis, const ShownMaps& shown) {
  MapAxes axes;
  const AttentionMaps* maps = find_maps(record, shown.site, hypothesis);
  const bool mixed = maps != nullptr && maps->has_projected_keys();
  if (!shown.by_words) {
    axes.labels = map_labels(record, shown.site, hypothesis);
    axes.row_numbers = numbers_to(axes.labels.inputs.size());
    axes.column_numbers = numbers_to(axes.labels.columns.size());
    if (mixed) number_mixtures(axes, maps->keys);
    return axes;
  }
  axes.labels.causal = shown.site == AttentionSite::decoder_self;
  add_words(shown.rows, axes.labels.inputs, axes.row_numbers);
  add_words(shown.columns, axes.labels.columns, axes.column_numbers);
  if (shown.site != AttentionSite::encoder_self) axes.row_title = "writes";
  if (mixed) number_mixtures(axes, maps->keys);
  return axes;
}

namespace {

constexpr int arrow_columns = 3;
constexpr int min_number_cell = 5;  // "0.56" and a shade
constexpr int max_number_cell = 9;
constexpr int max_turned_lines = 9;
constexpr int half_label = 10;  // columns of each of the two names beside a line of half blocks
constexpr int min_list = 14;    // minimum columns of a list beside a map
constexpr int title_lines = 1;  // above a map

int widest(const std::vector<std::string>& labels, int at_least) {
  int columns = at_least;
  for (const std::string& label : labels) columns = std::max(columns, display_width(label));
  return columns;
}

int divided_up(int a, int b) {
  return (a + b - 1) / b;
}

std::vector<std::string> column_names(const MapAxes& axes) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < axes.labels.columns.size(); ++i) {
    names.push_back(with_number(axes.column_numbers[i], axes.labels.columns[i]));
  }
  return names;
}

class MapPlanner {
 public:
  MapPlanner(const MapAxes& axes, const MapLayoutRequest& room)
      : axes_(axes),
        room_(room),
        keys_(std::max(1, to_int(axes.labels.columns.size()))),
        queries_(to_int(axes.labels.inputs.size())) {}

  MapLayout plan() {
    plan_rows();
    const int columns = room_.width - layout_.rows.width;
    if (room_.numbers || min_number_cell * keys_ <= columns) plan_numbers();
    if (layout_.cell_width == 0 || (!room_.numbers && is_too_high())) plan_shades();
    if (layout_.form == CellStyle::shades && is_too_high()) plan_halves();
    return layout_;
  }

 private:
  bool is_too_high() const {
    return room_.height > 0 && title_lines + layout_.lines(queries_, true) > room_.height;
  }

  void plan_rows() {
    RowLabelWidths& rows = layout_.rows;
    rows.number = widest(axes_.row_numbers, 1);
    if (axes_.labels.outputs.empty()) {
      rows.inputs = std::min(widest(axes_.labels.inputs, display_width(axes_.row_title)),
                             std::max(10, room_.width / 5));
      rows.width = rows.number + 1 + rows.inputs + 1;
    } else {
      const int most = (std::min(40, room_.width * 2 / 5) - 2 - arrow_columns - rows.number) / 2;
      rows.inputs = std::min(widest(axes_.labels.inputs, 5), most);
      rows.outputs = std::min(widest(axes_.labels.outputs, 6), most);
      rows.width = rows.number + 1 + rows.inputs + arrow_columns + rows.outputs + 1;
    }
  }

  /// Sets the cell width and, from it, the number of maps side by side and of rows of maps.
  void set_cell(int cell) {
    layout_.cell_width = cell;
    const int columns = room_.width - layout_.rows.width;
    const int most = std::max(1, columns / cell);
    layout_.blocks = divided_up(keys_, most);
    layout_.block_columns = divided_up(keys_, layout_.blocks);
    layout_.blocks = divided_up(keys_, layout_.block_columns);
    layout_.map_width = std::max(cell * layout_.block_columns, std::min(min_map_width, columns));
    layout_.maps_across = 1;
    if (layout_.blocks == 1) {
      layout_.maps_across +=
          std::max(0, columns - layout_.map_width) / (layout_.map_width + map_gap);
    }
  }

  int map_lines() const { return divided_up(std::max(1, room_.maps), layout_.maps_across); }

  /// Chooses the widest cells that need no more lines than the narrowest.
  void choose_cell(int widest_cell, int narrowest) {
    set_cell(narrowest);
    const int least = map_lines();
    const int min_blocks = layout_.blocks;
    for (int cell = widest_cell; cell > narrowest; --cell) {
      set_cell(cell);
      if (map_lines() == least && layout_.blocks == min_blocks) return;
    }
    set_cell(narrowest);
  }

  void plan_numbers() {
    layout_.form = CellStyle::numbers;
    const int name = widest(column_names(axes_), 1);
    const int level_cell = std::clamp(name + 1, min_number_cell, max_number_cell);
    const int half = std::max(min_number_cell + 1, divided_up(name + 1, 2));
    const int staggered = std::min(half, max_number_cell);
    choose_cell(level_cell, min_number_cell);
    const bool level = name < layout_.cell_width;
    if (!level) choose_cell(staggered, min_number_cell);
    if (layout_.cell_width < staggered && layout_.blocks > 1) set_cell(staggered);
    layout_.heading = level ? ColumnHeading::one_line : ColumnHeading::staggered;
    layout_.heading_lines = level ? 1 : 2;
  }

  void plan_shades() {
    layout_.form = CellStyle::shades;
    choose_cell(3, 1);
    if (layout_.cell_width == 1) return plan_key();
    int height = has_names(axes_) ? 1 : 0;
    for (const std::string& label : axes_.labels.columns) {
      height = std::max(height, to_int(vertical_label(label, max_turned_lines).size()));
    }
    layout_.heading = ColumnHeading::vertical;
    layout_.heading_lines = height + 1;
  }

  /// For cells so narrow that vertical names would touch each other.
  void plan_key() {
    layout_.heading = ColumnHeading::vertical_numbers;
    layout_.heading_lines = widest(axes_.column_numbers, 1);
    layout_.list_columns = room_.width;
    layout_.key_lines =
        has_names(axes_) ? to_int(listed_names(axes_, room_.width, key_start).size()) : 0;
  }

  /// Plans two rows per line, with only the numbers above them.
  void plan_halves() {
    const MapLayout shades = layout_;
    RowLabelWidths& rows = layout_.rows;
    const std::vector<std::string>& names =
        axes_.labels.outputs.empty() ? axes_.labels.inputs : axes_.labels.outputs;
    rows.inputs = rows.outputs = std::min(widest(names, 1), half_label);
    rows.width = 2 * (rows.number + 1 + rows.inputs + 1);
    layout_.form = CellStyle::half_blocks;
    set_cell(1);
    layout_.heading = ColumnHeading::numbers_only;
    layout_.heading_lines = 1;
    layout_.key_lines = 0;
    const int left = room_.width - rows.width - layout_.map_width - map_gap;
    layout_.list_columns = left >= min_list ? left : 0;
    if (layout_.blocks > 1) layout_ = shades;
  }

  const MapAxes& axes_;
  const MapLayoutRequest& room_;
  int keys_;
  int queries_;
  MapLayout layout_;
};

}  // namespace

int MapLayout::lines(int map_rows, bool with_heading) const {
  const int rows_lines = form == CellStyle::half_blocks ? divided_up(map_rows, 2) : map_rows;
  const bool numbers = with_heading || heading == ColumnHeading::vertical_numbers;
  const int first = (with_heading ? key_lines : 0) + (numbers ? heading_lines : 0) + rows_lines;
  return first + (blocks - 1) * (1 + heading_lines + rows_lines);
}

MapLayout plan_maps(const MapAxes& axes, const MapLayoutRequest& room) {
  return MapPlanner(axes, room).plan();
}

std::vector<std::string> listed_names(const MapAxes& axes, int columns, std::string_view start) {
  std::vector<std::string> lines = {std::string(start)};
  for (const std::string& whole : column_names(axes)) {
    const std::string name = truncate_to_width(whole, columns);
    const int used = display_width(lines.back());
    if (used > 0 && used + 2 + display_width(name) > columns) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += lines.back() == start ? " " : "  ";
    lines.back() += name;
  }
  return lines;
}

bool has_names(const MapAxes& axes) {
  const std::vector<std::string>& labels = axes.labels.columns;
  return std::any_of(labels.begin(), labels.end(),
                     [](const std::string& label) { return !label.empty(); });
}

std::string with_number(const std::string& number, const std::string& label) {
  return number.empty() || label.empty() ? number + label : number + " " + label;
}

std::vector<std::string> vertical_label(const std::string& label, int most) {
  std::vector<std::string> characters;
  std::string_view rest = label;
  while (!rest.empty()) {
    const std::string_view bytes = rest.substr(0, decode_code_point(rest).length);
    rest.remove_prefix(bytes.size());
    // A character of zero width is combined with the one before it.
    if (!characters.empty() && display_width(bytes) == 0) {
      characters.back() += bytes;
    } else {
      characters.emplace_back(bytes);
    }
  }
  if (to_int(characters.size()) > most) {
    characters.resize(to_size(most));
    characters.back() = "⋮";
  }
  return characters;
}

}  // namespace attn
