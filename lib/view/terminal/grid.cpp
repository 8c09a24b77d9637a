#include "view/terminal/grid.h"

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "base/utf8.h"
#include "view/terminal/shade.h"
#include "view/token_label.h"

namespace attn {
namespace {

constexpr std::string_view arrow = " → ";
constexpr std::string_view reads_title = "reads";
constexpr std::string_view writes_title = "writes";
constexpr std::string_view masked = "·  ";  // the dot stands under the decimal points
constexpr int arrow_columns = 3;
constexpr int smallest_cell = 6;  // " 0.56" and a shade

// A column's label may be this wide: at most; in a map that folds; and to keep one from folding.
constexpr int widest_label = 16;
constexpr int folded_label = 10;
constexpr int narrow_label = 7;
constexpr int most_label_lines = 3;  // a longer label goes on below, bottom lines level

int widest(const std::vector<std::string>& labels, int at_least) {
  int columns = at_least;
  for (const std::string& label : labels) columns = std::max(columns, display_width(label));
  return columns;
}

const std::string& label_of(const std::vector<std::string>& labels, std::size_t index) {
  static const std::string missing = "?";
  return index < labels.size() ? labels[index] : missing;
}

/// Two decimals, always the same width for weights; a number too wide for a cell is cut.
std::string number_text(float weight, int columns) {
  if (weight == 0.0f) weight = 0.0f;  // −0 is 0
  return fit_width(fmt::format("{:.2f}", weight), columns);
}

/// `text` at the right of a cell, with one column left after it.
void add_right(TextLine& line, std::string_view text, int cell) {
  const int end = line.columns + cell;
  line.pad_to(end - 1 - display_width(text));
  line.add(text);
  line.pad_to(end);
}

/// The width of all cells: every label in full where the map still fits the room, else narrower.
int cell_width(const std::vector<std::string>& labels, int room) {
  const auto cell_for = [](int columns) { return std::max(smallest_cell, columns + 1); };
  std::vector<int> widths;
  for (const std::string& label : labels) widths.push_back(display_width(label));
  std::sort(widths.begin(), widths.end());
  if (widths.empty()) return smallest_cell;
  const int longest = std::min(widths.back(), widest_label);
  const int count = to_int(widths.size());
  if (cell_for(longest) * count <= room) return cell_for(longest);
  if (cell_for(std::min(longest, narrow_label)) * count <= room) return room / count;
  // It folds: cells for most of the labels, and a few long words go on in a second line.
  const int common = widths[widths.size() * 17 / 20];
  return cell_for(std::min(longest, std::clamp(common, narrow_label, folded_label)));
}

struct Block {
  std::size_t first = 0;
  std::size_t end = 0;
};

class GridDrawer {
 public:
  GridDrawer(const GridAxes& axes, std::span<const float> weights, const GridLayout& layout,
             ColorMode color)
      : axes_(axes), weights_(weights), layout_(layout), color_(color) {}

  std::vector<TextLine> draw() {
    const std::size_t keys = axes_.columns.size();
    const auto step = to_size(layout_.block_columns);
    for (std::size_t first = 0; first < keys; first += step) {
      const Block block{first, std::min(keys, first + step)};
      if (first > 0) {
        TextLine note;
        note.add(fmt::format("… continued (part {} of {})", first / step + 1, layout_.blocks));
        lines_.push_back(std::move(note));
      }
      draw_heading(block);
      for (std::size_t row = 0; row < axes_.reads.size(); ++row) draw_row(row, block);
    }
    return std::move(lines_);
  }

 private:
  TextLine row_start(std::string_view reads, std::string_view writes, std::string_view between) {
    TextLine line;
    line.add(fit_width(reads, layout_.reads));
    line.pad_to(layout_.reads);
    if (layout_.writes > 0) {
      line.add(between);
      line.add(fit_width(writes, layout_.writes));
    }
    line.pad_to(layout_.row_label);
    return line;
  }

  /// The columns' labels, standing on the grid; the titles of the row labels beside the last line.
  void draw_heading(const Block& block) {
    std::vector<std::vector<std::string>> stacks;
    std::size_t height = 1;
    for (std::size_t column = block.first; column < block.end; ++column) {
      stacks.push_back(stack_label(axes_.columns[column], layout_.cell - 1, most_label_lines));
      height = std::max(height, stacks.back().size());
    }
    for (std::size_t level = height; level-- > 0;) {  // 0 is the lowest line
      const bool titled = level == 0 && layout_.writes > 0;
      TextLine line = titled ? row_start(reads_title, writes_title, arrow) : TextLine{};
      line.pad_to(layout_.row_label);
      for (const std::vector<std::string>& stack : stacks) {
        add_right(line, level < stack.size() ? stack[stack.size() - 1 - level] : "", layout_.cell);
      }
      lines_.push_back(std::move(line));
    }
  }

  void draw_row(std::size_t row, const Block& block) {
    const std::string_view writes =
        layout_.writes > 0 ? std::string_view(label_of(axes_.writes, row)) : std::string_view();
    TextLine line = row_start(axes_.reads[row], writes, arrow);
    std::string paint;  // what the terminal is set to now
    for (std::size_t column = block.first; column < block.end; ++column) {
      const float weight = weights_[row * axes_.columns.size() + column];
      const bool hidden = axes_.is_masked(row, column, weight);
      const std::string wanted = hidden ? std::string() : shade_escape(weight, color_);
      if (wanted != paint) line.add_escape(wanted.empty() ? "\x1b[0m" : wanted);
      paint = wanted;
      if (hidden) {
        add_right(line, masked, layout_.cell);
      } else {
        add_number(line, weight);
      }
    }
    if (!paint.empty()) line.add_escape("\x1b[0m");
    lines_.push_back(std::move(line));
  }

  void add_number(TextLine& line, float weight) const {
    const int end = line.columns + layout_.cell;
    const std::string text = number_text(weight, layout_.cell - 1);
    line.pad_to(end - 1 - display_width(text));
    line.add(text);
    line.add(color_ == ColorMode::none ? shade_character(weight) : " ");
  }

  const GridAxes& axes_;
  std::span<const float> weights_;
  const GridLayout& layout_;
  ColorMode color_;
  std::vector<TextLine> lines_;
};

}  // namespace

void TextLine::add(std::string_view printable_text) {
  text += printable_text;
  columns += display_width(printable_text);
}

void TextLine::pad_to(int target) {
  if (columns >= target) return;
  text.append(to_size(target - columns), ' ');
  columns = target;
}

GridLayout plan_grid(const GridAxes& axes, int width) {
  GridLayout layout;
  if (axes.writes.empty()) {
    layout.reads = std::min(widest(axes.reads, 1), std::max(10, width / 5));
    layout.row_label = layout.reads + 1;
  } else {
    const int most = (std::min(40, width * 2 / 5) - 1 - arrow_columns) / 2;
    layout.reads = std::min(widest(axes.reads, display_width(reads_title)), most);
    layout.writes = std::min(widest(axes.writes, display_width(writes_title)), most);
    layout.row_label = layout.reads + arrow_columns + layout.writes + 1;
  }
  const int keys = std::max(1, to_int(axes.columns.size()));
  const int room = width - layout.row_label;
  layout.cell = cell_width(axes.columns, room);
  const int most_columns = std::max(1, room / layout.cell);
  layout.blocks = (keys + most_columns - 1) / most_columns;
  layout.block_columns = (keys + layout.blocks - 1) / layout.blocks;
  layout.blocks = (keys + layout.block_columns - 1) / layout.block_columns;
  layout.width = layout.row_label + layout.cell * layout.block_columns;
  return layout;
}

std::vector<TextLine> draw_grid(const GridAxes& axes, std::span<const float> weights,
                                const GridLayout& layout, ColorMode color) {
  return GridDrawer(axes, weights, layout, color).draw();
}

}  // namespace attn
