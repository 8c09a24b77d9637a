// What the large and the small maps are drawn with.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "view/svg/map/map_panels.h"

namespace attn {

/// Pixels between labels and the map.
inline constexpr double label_gap = 6;

/// A label on every n-th token of an axis, in a font that keeps them apart.
struct LabelPlan {
  double font_size = 12;
  std::size_t step = 1;
};

/// For tokens `pitch` pixels apart, at most `largest` pixels high.
LabelPlan plan_labels(double pitch, double largest);

/// The widest of the labels that are drawn, pixels, at most `most`.
double widest_label(const std::vector<std::string>& labels, const LabelPlan& plan, double most);

/// How far the labels of the rows reach to the left of a map, and their two columns.
struct RowLabelPlan {
  LabelPlan plan;
  double inputs = 0;   ///< pixels of the first column
  double outputs = 0;  ///< of the second; 0: there is none
  double width = 0;    ///< of all, with what stands between and after
  double pitch = 0;    ///< from row to row
};
RowLabelPlan plan_row_labels(const MapLabels& axes, double pitch, double largest, double most);

/// Pixels between what a step reads and what it writes.
double arrow_width(double font_size);

/// The labels at the left of a map whose top left corner is at `x`, `y`: "reads → writes" in three
/// columns, each its own text, so that words written from right to left keep their place.
void append_row_labels(std::string& out, const MapLabels& axes, const RowLabelPlan& labels,
                       double x, double y);

/// One text, cut to `width` pixels; where that cuts it, the whole label shows under the pointer.
struct LabelStyle {
  std::string_view css_class;
  double font_size = 12;
  double width = 0;
  std::string_view transform;  ///< an attribute with its leading blank, or nothing
};
void append_label(std::string& out, std::string_view label, const LabelStyle& style, double x,
                  double y);

/// All weights of a map as an attribute's value: rows parted by ";", numbers by blanks.
void append_weight_rows(std::string& out, std::span<const float> weights, std::size_t keys);

/// The weights of a map and, where a pattern leaves cells out, which.
struct MapCells {
  std::span<const float> weights;            ///< [queries · keys]
  std::span<const std::uint8_t> uncomputed;  ///< likewise; empty: none
  bool has_signs = false;                    ///< what is negative has colours of its own
};

/// A whole map as one path a colour, at the origin, `cell` pixels a cell: small however many cells.
void append_compact_cells(std::string& out, const MapLabels& axes, const MapCells& cells, int cell);

/// "label-9" and so on, for the font sizes that plan_labels() chooses; nothing for 12.
std::string_view label_class(double font_size);

}  // namespace attn
