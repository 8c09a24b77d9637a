#include "view/svg/map/map_panels.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/at.h"
#include "view/color.h"
#include "view/svg/map/map_drawing.h"
#include "view/svg/svg_text.h"

namespace attn {
namespace {

constexpr double overview_heading_height = 26;
constexpr double head_label_height = 18;
constexpr double layer_label_width = 18;
constexpr double overview_gap = 12;    // between two maps
constexpr double smallest_pitch = 52;  // room for "head 12" and "layer 12"
constexpr double overview_largest_font = 10;
constexpr double overview_row_label = 64;     // pixels of one column of the row labels
constexpr double overview_column_label = 72;  // height of the column labels in pixels

constexpr int largest_cell = 22;  // pixels

/// Returns the minimum cell size in whole pixels: a row of maps is as large as fits on a page.
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
    const std::string layers =
        fmt::format("{} layer{}", maps_.layers, maps_.layers == 1 ? "" : "s");
    const std::string heading = source_.of_layers
                                    ? layers
                                    : fmt::format("All heads: {} × {} head{}", layers, maps_.heads,
                                                  maps_.heads == 1 ? "" : "s");
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
    if (source_.of_layers) return;
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

  /// Appends the keys' tokens below the lowest map of a column, read upwards.
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
  double column_labels_;  ///< height of the column labels in pixels
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

namespace {

constexpr double bar_left = 48;  // after the word "weight"
constexpr int bar_step = 2;      // levels of the scale per rectangle of the bar
constexpr double level_width = 2.4;
constexpr double bar_height = 12;
constexpr double sample_side = 14;  // side of a sample cell in pixels
constexpr double sample_gap = 22;   // pixels between two samples
constexpr double text_size = 12;
constexpr std::array<float, 6> ticks = {0.0f, 0.01f, 0.1f, 0.25f, 0.5f, 1.0f};

bool has_odd(const AttentionMaps& maps) {
  return std::any_of(maps.weights.begin(), maps.weights.end(),
                     [](float weight) { return !std::isfinite(weight); });
}

// Included only in pictures with a sparse pattern.
constexpr std::string_view left_out_style =
    R"svg(<style>
.attn-picture .left-out{fill:url(#attn-dots)}
.attn-picture .dots-ground{fill:#ffffff}
.attn-picture .dots-dot{fill:#c6ccd3}
@media screen and (prefers-color-scheme:dark){
.attn-picture .dots-ground{fill:#0d1117}
.attn-picture .dots-dot{fill:#39424d}
}
</style>
<defs><pattern id="attn-dots" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="dots-ground" width="6" height="6"/><rect class="dots-dot" x="2" y="2" width="1.5" height="1.5"/></pattern></defs>
)svg";

// Included only in pictures of LSH; buckets alternate between its colors.
constexpr std::string_view hash_style = R"svg(<style>
.attn-picture .best-key{fill:none;stroke:#1a7f37;stroke-width:2}
.attn-picture .best-key.unmet{stroke:#c2500a;stroke-dasharray:3 2}
.attn-picture .bucket0{fill:#dbe7f6}
.attn-picture .bucket1{fill:#fbe3cf}
.attn-picture .bucket2{fill:#dcefd9}
.attn-picture .bucket3{fill:#ecdff3}
.attn-picture .chunk-end{stroke:#1f2328;stroke-width:2}
@media screen and (prefers-color-scheme:dark){
.attn-picture .best-key{stroke:#56d364}
.attn-picture .best-key.unmet{stroke:#f4924d}
.attn-picture .bucket0{fill:#1d3350}
.attn-picture .bucket1{fill:#4a2d16}
.attn-picture .bucket2{fill:#1e3d22}
.attn-picture .bucket3{fill:#3a2549}
.attn-picture .chunk-end{stroke:#e6edf3}
}
</style>
)svg";

/// Returns the style that is included in pictures with negative numbers.
std::string negative_style() {
  std::string out = "<style>\n";
  const auto append = [&](Rgb (*color_of)(int level)) {
    for (int level = 0; level < color_levels; ++level) {
      const Rgb color = color_of(level);
      append_format(out, ".attn-picture .n{}{{fill:#{:02x}{:02x}{:02x}}}\n", level, color.red,
                    color.green, color.blue);
    }
  };
  append(light_negative_color);
  out += "@media screen and (prefers-color-scheme:dark){\n";
  append(dark_negative_color);
  return out + "}\n</style>\n";
}

/// True if a head leaves out a cell that no mask hides.
bool leaves_out(const MapSource& source) {
  if (!source.maps.seen) return false;
  const std::vector<PatternCells>& patterns = source.maps.seen->patterns;
  const auto queries = to_size(source.maps.queries), keys = to_size(source.maps.keys);
  const std::size_t whole = source.axes.causal ? queries * (queries + 1) / 2 : queries * keys;
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const PatternCells& pattern) { return pattern.count() < whole; });
}

double level_x(double level) {
  return bar_left + level * level_width;
}

/// Draws the bar and returns the position of its end.
double append_bar(std::string& out, std::string_view name) {
  append_format(out, "<text class=\"quiet\" x=\"0\" y=\"11\">{}</text>\n<g class=\"bar\">\n", name);
  const double width = bar_step * level_width;
  for (int level = 0; level < color_levels; level += bar_step) {
    // Each color is centred on its own level.
    const double first = std::max(level_x(0), level_x(level) - width / 2);
    const double last = std::min(level_x(color_levels - 1), level_x(level) + width / 2);
    append_format(out,
                  "<rect class=\"s{}\" x=\"{:.1f}\" y=\"1\" width=\"{:.1f}\" height=\"{}\"/>\n",
                  level, first, last - first, bar_height);
  }
  out += "</g>\n";
  const double end = level_x(color_levels - 1);
  append_format(out, "<rect class=\"frame\" x=\"{}\" y=\"0.5\" width=\"{}\" height=\"{}\"/>\n",
                bar_left - 0.5, end - bar_left + 1, bar_height + 1);
  for (const float weight : ticks) {
    const double x = level_x(scale_position(weight) * static_cast<float>(color_levels - 1));
    append_format(out,
                  "<line class=\"tick-line\" x1=\"{0:.1f}\" y1=\"14\" x2=\"{0:.1f}\" y2=\"18\"/>\n"
                  "<text class=\"quiet label-10 middle\" x=\"{0:.1f}\" y=\"29\">{1}</text>\n",
                  x, weight);
  }
  return end;
}

/// Returns what the shades stand for.
std::string_view bar_name(const MapSource& source) {
  if (!source.measure) return "weight";
  return *source.measure == MapMeasure::value ? "length" : "share";
}

}  // namespace

Panel color_legend_panel(const MapSource& source) {
  Panel panel;
  double x = append_bar(panel.svg, bar_name(source)) + sample_gap + 6;
  const auto add = [&](std::string_view mark, std::string_view text) {
    panel.svg += mark.empty() ? ""
                              : fmt::format(
                                    "<rect class=\"{0}\" x=\"{1:.1f}\" y=\"0.5\" "
                                    "width=\"{2}\" height=\"{2}\"/>\n",
                                    mark, x, sample_side);
    const double text_x = mark.empty() ? x : x + sample_side + 6;
    append_format(panel.svg, "<text class=\"quiet\" x=\"{:.1f}\" y=\"11.5\">{}</text>\n", text_x,
                  text);
    x = text_x + std::ceil(text_width(text, text_size)) + sample_gap;
  };
  if (source.measure == MapMeasure::value) {
    add("", fmt::format("1 is the largest length, {:.4g}", source.largest));
  }
  if (source.axes.causal) add("masked", "masked");
  if (leaves_out(source)) {
    panel.svg = std::string(left_out_style) + panel.svg;
    add("left-out", "not computed: outside of the pattern");
  }
  if (source.maps.seen && source.maps.seen->non_token_weights.any()) {
    const auto& [keys, weights] = source.maps.seen->non_token_weights;
    const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
    add("", fmt::format("{} take {:.2f} to {:.2f} of a row", keys->short_name, *least, *most));
  }
  if (source.maps.has_projected_keys() ||
      (source.maps.approximation && !source.maps.approximation->exact.empty())) {
    panel.svg = negative_style() + panel.svg;
    add("n36", "below 0");
  }
  if (source.maps.hashed(0, 0) != nullptr) {
    panel.svg = std::string(hash_style) + panel.svg;
    add("best-key", "a row's best key");
    add("best-key unmet", "not met");
  }
  if (has_odd(source.maps)) add("odd", "not a number");
  if (source.axes.has_continuations()) add("", "‿ goes on with the word before it");
  panel.width = x - sample_gap;
  panel.height = 32;
  return panel;
}

}  // namespace attn
