// Drawing shared by the large and the small maps.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "view/svg/map/map_panels.h"

namespace attn {

/// Distance between labels and the map, in pixels.
inline constexpr double label_gap = 6;

/// A label on every n-th token of an axis, at a font size that keeps labels apart.
struct LabelPlan {
  double font_size = 12;
  std::size_t step = 1;
};

/// Plans labels for tokens that are `pitch` pixels apart, at most `largest` pixels high.
LabelPlan plan_labels(double pitch, double largest);

/// Returns the width of the widest label that is drawn, in pixels, at most `most`.
double widest_label(const std::vector<std::string>& labels, const LabelPlan& plan, double most);

/// The width of the row labels to the left of a map, and of their two columns.
struct RowLabelPlan {
  LabelPlan plan;
  double inputs = 0;   ///< pixels of the first column
  double outputs = 0;  ///< pixels of the second column; 0: there is none
  double width = 0;    ///< total, including the spaces between and after the columns
  double pitch = 0;    ///< distance between rows
};
RowLabelPlan plan_row_labels(const MapLabels& axes, double pitch, double largest, double most);

/// Returns the pixels between the token that a step reads and the token that it writes.
double arrow_width(double font_size);

/// Appends the labels to the left of a map whose top left corner is at `x`, `y`: "reads → writes"
/// in three columns. Each column is a separate text element, so that right-to-left words stay in
/// their column.
void append_row_labels(std::string& out, const MapLabels& axes, const RowLabelPlan& labels,
                       double x, double y);

/// Style of a text cut to `width` pixels. If it is cut, the whole label appears as a tooltip.
struct LabelStyle {
  std::string_view css_class;
  double font_size = 12;
  double width = 0;
  std::string_view transform;  ///< an attribute with its leading space, or empty
};
void append_label(std::string& out, std::string_view label, const LabelStyle& style, double x,
                  double y);

/// Appends all weights of a map as the value of an attribute: rows separated by ";", numbers by
/// spaces.
void append_weight_rows(std::string& out, std::span<const float> weights, std::size_t keys);

/// The weights of a map, and the cells that a sparse pattern leaves out, if any.
struct MapCells {
  std::span<const float> weights;            ///< [queries · keys]
  std::span<const std::uint8_t> uncomputed;  ///< [queries · keys]; empty: no cells are left out
  bool has_signs = false;                    ///< negative weights have their own colours
};

/// Draws a whole map at the origin with one path per color and cells of `cell` pixels. The output
/// stays small however many cells there are.
void append_compact_cells(std::string& out, const MapLabels& axes, const MapCells& cells, int cell);

/// Returns "label-9" and so on for the font sizes that plan_labels() chooses; empty for 12.
std::string_view label_class(double font_size);

}  // namespace attn
