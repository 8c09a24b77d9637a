#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "view/svg/map/map_drawing.h"
#include "view/svg/svg_text.h"
#include "view/svg/xml_text.h"

namespace attn {
namespace {

constexpr double overview_heading_height = 26;
constexpr double head_label_height = 18;
constexpr double layer_label_width = 18;
constexpr double overview_gap = 12;    // between two maps
constexpr double smallest_pitch = 52;  // room for "head 12" and "layer 12"
constexpr double overview_largest_font = 10;
constexpr double overview_row_label = 64;     // pixels of one column of the rows' labels
constexpr double overview_column_label = 72;  // pixels that labels hang down

constexpr int largest_cell = 22;  // pixels

/// Whole pixels a cell, at least: maps are as large as a row of them can be on a page.
int smallest_overview_cell(const AttentionMaps& maps) {
  const int longest = std::max(maps.queries, maps.keys);
  const int side = maps.heads <= 4 ? 144 : maps.heads <= 8 ? 104 : 80;
  const int smallest = longest > 150 ? 1 : 2;
  return std::clamp(side / std::max(1, longest), smallest, largest_cell);
}

class OverviewPanel {
 public:
  OverviewPanel(const MapSource& source, const HeadIndex* selected, int cell)
      : source_(source),
        maps_(source.maps),
        selected_(selected),
        cell_(cell),
        rows_(plan_row_labels(source.axes, cell_, overview_largest_font, overview_row_label)),
        columns_(plan_labels(cell_, overview_largest_font)),
        column_labels_(widest_label(source.axes.columns, columns_, overview_column_label)),
        left_(layer_label_width + rows_.width),
        top_(overview_heading_height + head_label_height),
        pitch_x_(std::max<double>(smallest_pitch, maps_.keys * cell_ + overview_gap)),
        pitch_y_(std::max<double>(smallest_pitch, maps_.queries * cell_ + overview_gap)) {}

  Panel draw() {
    const std::string heading =
        fmt::format("All heads: {} layer{} × {} head{}", maps_.layers, maps_.layers == 1 ? "" : "s",
                    maps_.heads, maps_.heads == 1 ? "" : "s");
    append_format(panel_.svg, "<text class=\"heading\" x=\"0\" y=\"13\">{}</text>\n", heading);
    append_head_labels();
    for (int layer = 0; layer < maps_.layers; ++layer) {
      append_layer(layer);
      for (int head = 0; head < maps_.heads; ++head) append_map(layer, head);
    }
    for (int head = 0; head < maps_.heads; ++head) append_columns(head);
    panel_.width = std::max(width(), std::ceil(text_width(heading, 13, FontWeight::bold)));
    panel_.height = height();
    return std::move(panel_);
  }

  double width() const { return left_ + maps_.heads * pitch_x_ - overview_gap + 4; }
  double height() const { return bottom() + column_labels_ + 8; }

 private:
  double x_of(int head) const { return left_ + head * pitch_x_; }
  double y_of(int layer) const { return top_ + layer * pitch_y_; }
  double bottom() const { return y_of(maps_.layers - 1) + maps_.queries * cell_; }

  void append_head_labels() {
    for (int head = 0; head < maps_.heads; ++head) {
      append_format(panel_.svg, "<text class=\"quiet small\" x=\"{}\" y=\"{}\">head {}</text>\n",
                    x_of(head), top_ - 6, head);
    }
  }

  void append_layer(int layer) {
    const double y = y_of(layer) + maps_.queries * cell_ / 2.0;
    const double centre = std::max(y, y_of(layer) + smallest_pitch / 2 - overview_gap / 2);
    append_format(panel_.svg,
                  "<text class=\"quiet small middle\" x=\"11\" y=\"{0}\" "
                  "transform=\"rotate(-90 11 {0})\">layer {1}</text>\n",
                  centre, layer);
    panel_.svg += "<g class=\"queries\">\n";
    append_row_labels(panel_.svg, source_.axes, rows_, left_, y_of(layer));
    panel_.svg += "</g>\n";
  }

  void append_map(int layer, int head) {
    const int width = maps_.keys * cell_;
    const int height = maps_.queries * cell_;
    const auto keys = to_size(maps_.keys);
    append_format(panel_.svg,
                  "<g class=\"map\" id=\"{}-{}-{}\" data-layer=\"{}\" data-head=\"{}\" "
                  "transform=\"translate({} {})\" data-weights=\"",
                  site_key(source_.site), layer, head, layer, head, x_of(head), y_of(layer));
    append_weight_rows(panel_.svg, maps_.map(layer, head), keys);
    append_format(panel_.svg, "\">\n<title>layer {}, head {}</title>\n", layer, head);
    const std::vector<std::uint8_t> uncomputed = maps_.uncomputed(layer, head);
    append_compact_cells(panel_.svg, source_.axes, {maps_.map(layer, head), uncomputed}, cell_);
    append_format(panel_.svg,
                  "<rect class=\"frame\" x=\"-0.5\" y=\"-0.5\" width=\"{}\" height=\"{}\"/>\n",
                  width + 1, height + 1);
    if (selected_ != nullptr && selected_->layer == layer && selected_->head == head) {
      append_format(panel_.svg,
                    "<rect class=\"chosen\" x=\"-3\" y=\"-3\" width=\"{}\" height=\"{}\" "
                    "rx=\"2\"/>\n",
                    width + 6, height + 6);
    }
    panel_.svg += "</g>\n";
  }

  /// The keys' tokens under the lowest map of a column, read upwards.
  void append_columns(int head) {
    panel_.svg += "<g class=\"keys\">\n";
    const std::vector<std::string>& labels = source_.axes.columns;
    const double y = bottom() + 5;
    const std::string css_class = fmt::format("quiet end {}", label_class(columns_.font_size));
    for (std::size_t key = 0; key < labels.size(); key += columns_.step) {
      const double centre = x_of(head) + (static_cast<double>(key) + 0.5) * cell_;
      const double x = std::round((centre + 0.36 * columns_.font_size) * 10) / 10;
      const std::string turn = fmt::format(" transform=\"rotate(-90 {} {})\"", x, y);
      append_label(panel_.svg, labels[key], {css_class, columns_.font_size, column_labels_, turn},
                   x, y);
    }
    panel_.svg += "</g>\n";
  }

  const MapSource& source_;
  const AttentionMaps& maps_;
  const HeadIndex* selected_;
  int cell_;  ///< pixels
  RowLabelPlan rows_;
  LabelPlan columns_;
  double column_labels_;  ///< pixels that they hang down
  double left_;
  double top_;
  double pitch_x_;
  double pitch_y_;
  Panel panel_;
};

}  // namespace

Panel overview_panel(const MapSource& source, const HeadIndex* selected, const PixelSize& room) {
  int cell = largest_cell;
  for (const int smallest = smallest_overview_cell(source.maps); cell > smallest; --cell) {
    const OverviewPanel overview(source, selected, cell);
    if (overview.width() <= room.width && overview.height() <= room.height) break;
  }
  return OverviewPanel(source, selected, cell).draw();
}

}  // namespace attn
