#include "view/svg/map/map_drawing.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/at.h"
#include "base/json.h"
#include "base/strings/utf8.h"
#include "view/color.h"
#include "view/svg/svg_text.h"

namespace attn {
namespace {

constexpr double smallest_font = 9;
constexpr double line_room = 1.5;              // pixels between two labels
constexpr int odd_level = color_levels;        // index of NaN and infinities among the paths
constexpr int negative_level = odd_level + 1;  // index of negative numbers, from magnitude 0 on

/// Returns the level of a cell; −1 where the background shows (0, and masked cells).
int path_of(const MapLabels& axes, const MapCells& cells, std::size_t row, std::size_t column) {
  const float weight = cells.weights[row * axes.columns.size() + column];
  if (!std::isfinite(weight)) return odd_level;
  if (cells.has_signs && weight < 0 && color_level(-weight) > 0) {
    return negative_level + color_level(-weight);
  }
  const int level = color_level(weight);
  // On the mask's hatching even a weight of 0 must be painted if it is not masked.
  const bool on_mask = axes.causal && column > row;
  if (level == 0 && (!on_mask || axes.is_masked(row, column, weight))) return -1;
  return level;
}

/// Appends the staircase of masked cells to the right of the diagonal.
void append_mask(std::string& out, std::size_t rows, std::size_t columns, int cell) {
  const std::size_t steps = std::min(rows, columns);
  if (steps < 2 && columns < 2) return;
  const std::size_t side = to_size(cell);
  append_format(out, "<path class=\"masked\" d=\"M{} 0H{}V{}", side, columns * side, steps * side);
  for (std::size_t row = steps; row-- > 0;) {
    append_format(out, "H{}V{}", std::min(columns, row + 1) * side, row * side);
  }
  out += "z\"/>\n";
}

/// Appends the cells that a sparse pattern leaves out, in runs.
void append_left_out(std::string& out, const MapLabels& axes, const MapCells& cells, int cell) {
  const std::size_t columns = axes.columns.size();
  const std::size_t side = to_size(cell);
  const auto is_left_out = [&](std::size_t row, std::size_t column) {
    return axes.is_left_out(cells.uncomputed, row, column, cells.weights[row * columns + column]);
  };
  std::string path;
  for (std::size_t row = 0; row < axes.inputs.size() && !cells.uncomputed.empty(); ++row) {
    for (std::size_t first = 0, end = 0; first < columns; first = end + 1) {
      for (end = first; end < columns && is_left_out(row, end);) ++end;
      if (end == first) continue;
      append_format(path, "M{} {}h{}v{}h-{}z", first * side, row * side, (end - first) * side, side,
                    (end - first) * side);
    }
  }
  if (!path.empty()) append_format(out, "<path class=\"left-out\" d=\"{}\"/>\n", path);
}

}  // namespace

LabelPlan plan_labels(double pitch, double largest) {
  LabelPlan plan;
  plan.font_size = std::clamp(std::floor(pitch - line_room), smallest_font, largest);
  plan.step = static_cast<std::size_t>(std::ceil((plan.font_size + line_room) / pitch));
  return plan;
}

double widest_label(const std::vector<std::string>& labels, const LabelPlan& plan, double most) {
  double widest = 0;
  for (std::size_t i = 0; i < labels.size(); i += plan.step) {
    widest = std::max(widest, text_width(labels[i], plan.font_size));
  }
  return std::ceil(std::min(widest, most));
}

double arrow_width(double font_size) {
  return std::ceil(font_size * 4 / 3);
}

RowLabelPlan plan_row_labels(const MapLabels& axes, double pitch, double largest, double most) {
  RowLabelPlan labels;
  labels.pitch = pitch;
  labels.plan = plan_labels(pitch, largest);
  labels.inputs = widest_label(axes.inputs, labels.plan, most);
  labels.width = labels.inputs + label_gap;
  if (!axes.outputs.empty()) {
    labels.outputs = widest_label(axes.outputs, labels.plan, most);
    labels.width += arrow_width(labels.plan.font_size) + labels.outputs;
  }
  return labels;
}

void append_row_labels(std::string& out, const MapLabels& axes, const RowLabelPlan& labels,
                       double x, double y) {
  const double size = labels.plan.font_size;
  const double arrow = arrow_width(size);
  const std::string reads_class = fmt::format("end {}", label_class(size));
  const std::string_view plain = label_class(size);
  const bool both = labels.outputs > 0;
  const double reads_end = both ? x - label_gap - labels.outputs - arrow : x - label_gap;
  for (std::size_t row = 0; row < axes.inputs.size(); row += labels.plan.step) {
    const double baseline =
        std::round((y + (static_cast<double>(row) + 0.5) * labels.pitch + 0.36 * size) * 10) / 10;
    const std::string quiet_end = both ? "quiet " + reads_class : reads_class;
    append_label(out, axes.inputs[row], {quiet_end, size, labels.inputs, {}}, reads_end, baseline);
    if (!both) continue;
    append_label(out, "→", {fmt::format("quiet middle {}", plain), size, arrow, {}},
                 reads_end + arrow / 2, baseline);
    append_label(out, axes.outputs[row], {plain, size, labels.outputs, {}}, reads_end + arrow,
                 baseline);
  }
}

void append_label(std::string& out, std::string_view label, const LabelStyle& style, double x,
                  double y) {
  // One pixel more, because the widest label's width was rounded.
  const std::string fitted = fit_text(label, style.font_size, style.width + 1);
  append_format(out, "<text class=\"{}\" x=\"{}\" y=\"{}\"{}>", style.css_class, x, y,
                style.transform);
  if (fitted != label) {
    append_format(out, "<title>{}</title>", xml_escaped(truncate_to_width(label, 1000)));
  }
  out += xml_escaped(fitted);
  out += "</text>\n";
}

void append_weight_rows(std::string& out, std::span<const float> weights, std::size_t keys) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (i > 0) out += i % keys == 0 ? ';' : ' ';
    append_float(out, weights[i]);
  }
}

void append_compact_cells(std::string& out, const MapLabels& axes, const MapCells& cells,
                          int cell) {
  const std::size_t rows = axes.inputs.size();
  const std::size_t columns = axes.columns.size();
  std::array<std::string, 2 * color_levels + 1> paths;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0, end = 0; column < columns; column = end) {
      const int path = path_of(axes, cells, row, column);
      for (end = column + 1; end < columns; ++end) {
        if (path_of(axes, cells, row, end) != path) break;
      }
      if (path < 0) continue;
      append_format(at(paths, path), "M{} {}h{}v1h-{}z", column, row, end - column, end - column);
    }
  }
  append_format(out, "<rect class=\"s0\" width=\"{}\" height=\"{}\"/>\n", columns * to_size(cell),
                rows * to_size(cell));
  if (axes.causal) append_mask(out, rows, columns, cell);
  append_left_out(out, axes, cells, cell);
  append_format(out, "<g class=\"cells\" transform=\"scale({})\">\n", cell);
  for (std::size_t level = 0; level < paths.size(); ++level) {
    if (paths[level].empty()) continue;
    if (level == odd_level) {
      append_format(out, "<path class=\"odd\" d=\"{}\"/>\n", paths[level]);
    } else if (level >= negative_level) {
      append_format(out, "<path class=\"n{}\" d=\"{}\"/>\n", level - negative_level, paths[level]);
    } else {
      append_format(out, "<path class=\"s{}\" d=\"{}\"/>\n", level, paths[level]);
    }
  }
  out += "</g>\n";
}

std::string_view label_class(double font_size) {
  constexpr std::array<std::string_view, 3> classes = {"label-9", "label-10", "label-11"};
  if (font_size >= 12) return "label";
  return classes[static_cast<std::size_t>(std::clamp(font_size - 9, 0.0, 2.0))];
}

}  // namespace attn
