#include <algorithm>
#include <array>
#include <cmath>

#include "base/at.h"
#include "base/strings/plural.h"
#include "base/strings/utf8.h"
#include "config/attention_site.h"
#include "view/color.h"
#include "view/svg/map/map_drawing.h"
#include "view/svg/svg_text.h"

namespace attn {
namespace {

constexpr double head_heading_height = 26;
constexpr double axis_title_height = 18;
constexpr double head_row_label = 130;  // pixels of one column of the row labels
constexpr double head_column_label = 130;
constexpr double head_largest_font = 12;
constexpr double slanted_pitch = 18;       // cells at least this wide have labels at 45 degrees
constexpr double sine_of_slant = 0.70711;  // 45 degrees
constexpr int cell_title_columns = 80;     // width of a token in a cell's tooltip
constexpr std::size_t max_single_cells = 20000;  // a larger map is drawn as paths

/// Returns the cell size in whole pixels.
int cell_size(const AttentionMaps& maps) {
  const int longest = std::max(maps.queries, maps.keys);
  if (longest <= 8) return 46;
  if (longest <= 12) return 38;
  if (longest <= 26) return 28;
  if (longest <= 34) return 23;
  return longest <= 80 ? 13 : longest <= 160 ? 11 : longest <= 320 ? 6 : 3;
}

/// The font for numbers in cells of this width; no class if "0.00" does not fit.
struct NumberFont {
  double size = 0;
  std::string_view css_class;
};

NumberFont number_font(int cell) {
  if (cell >= 36) return {12, "numbers-12"};
  if (cell >= 28) return {10, "numbers-10"};
  if (cell >= 23) return {8.5, "numbers-8"};
  return {};
}

/// Orientation of the keys' tokens above the map.
enum class Slant { level, slanted, upright };

struct ColumnLabels {
  LabelPlan plan;
  Slant slant = Slant::level;
  double label = 0;   ///< the widest, in pixels
  double height = 0;  ///< above the map
  double beyond = 0;  ///< pixels by which the last labels extend beyond the map's right edge
};

ColumnLabels plan_columns(const MapLabels& axes, int cell) {
  ColumnLabels columns;
  columns.plan = plan_labels(cell, head_largest_font);
  columns.label = widest_label(axes.columns, columns.plan, head_column_label);
  const double size = columns.plan.font_size;
  if (columns.label <= cell - 4) {
    columns.height = size + label_gap;
  } else if (cell >= slanted_pitch) {
    columns.slant = Slant::slanted;
    columns.height = std::ceil((columns.label + size) * sine_of_slant) + label_gap;
    columns.beyond = std::ceil((columns.label + size) * sine_of_slant) - cell / 2.0;
  } else {
    columns.slant = Slant::upright;
    columns.height = columns.label + label_gap;
  }
  columns.beyond = std::max(columns.beyond, 0.0);
  return columns;
}

/// Formats two decimals; a negative number has its sign in place of the leading zero.
std::string two_decimals(float number) {
  std::string text = fmt::format("{:.2f}", std::abs(number));
  if (number >= 0 || text == "0.00") return text;
  return "−" + (text.starts_with('0') ? text.substr(1) : text);
}

/// Returns the average over the rows of the exact weight that the estimate misses, from the
/// differences estimated − exact.
double missed_mass(std::span<const float> difference, int rows) {
  double missed = 0;
  for (const float part : difference) missed += std::max(0.0, -static_cast<double>(part));
  return missed / std::max(1, rows);
}

/// Returns a suffix that makes the element ids of a head's large maps unique.
std::string_view part_word(MapPart part) {
  constexpr std::array<std::string_view, 5> words = {"", "-exact", "-difference", "-e", "-f"};
  return at(words, part);
}

/// Returns "cross:2:1 (of 3 layers × 4 heads)", with the name that options take.
std::string heading(const MapSource& source, const LargeMap& large) {
  const AttentionSite site = source.site;
  const AttentionMaps& maps = source.maps;
  switch (large.part) {
    case MapPart::projected_keys:
      return fmt::format("E of layer {}: tokens in a mixture's key", *large.layer);
    case MapPart::projected_values:
      return fmt::format("F of layer {}: tokens in a mixture's value", *large.layer);
    case MapPart::exact:
      return "exact: softmax of all scores";
    case MapPart::difference:
      return fmt::format("difference: {:.2f} of a row's weight lies elsewhere",
                         missed_mass(large.weights, maps.queries));
    case MapPart::weights:
      break;
  }
  HeadName name{site, large.layer, large.head};
  if (!large.head) name.pick = HeadSelector::mean;
  if (source.of_layers) name.head.reset();
  if (source.measure) {
    return fmt::format("{}@{} (of {}{})", to_string(name), measure_key(*source.measure),
                       counted(maps.layers, "layer"),
                       source.of_layers ? "" : " × " + counted(maps.heads, "head"));
  }
  return fmt::format("{} (of {} × {})", to_string(name), counted(maps.layers, "layer"),
                     counted(maps.heads, "head"));
}

std::string number_or_mean(std::optional<int> index) {
  return index ? fmt::format("{}", *index) : "mean";
}

class HeadMapPanel {
 public:
  HeadMapPanel(const MapSource& source, const LargeMap& large)
      : source_(source),
        axes_(source.axes),
        large_(large),
        weights_(large.weights),
        cell_(cell_size(source.maps)),
        rows_(plan_row_labels(axes_, cell_, head_largest_font, head_row_label)),
        columns_(plan_columns(axes_, cell_)),
        numbers_(number_font(cell_)),
        heading_(heading(source, large)) {
    // The words above the row labels need room, too.
    if (!axes_.outputs.empty()) {
      rows_.inputs = std::max(rows_.inputs, 34.0);
      rows_.outputs = std::max(rows_.outputs, 38.0);
      rows_.width = rows_.inputs + rows_.outputs + label_gap + arrow_width(rows_.plan.font_size);
    }
    left_ = std::max(rows_.width, 54.0);
    top_ = head_heading_height + axis_title_height + columns_.height;
  }

  Panel draw() {
    append_headings();
    append_columns();
    out_ += "<g class=\"queries\">\n";
    append_row_labels(out_, axes_, rows_, left_, top_);
    out_ += "</g>\n";
    const std::string layer = number_or_mean(large_.layer), head = number_or_mean(large_.head);
    append_format(out_,
                  "<g class=\"head {}\" id=\"{}-{}-{}-large{}\" data-layer=\"{}\" data-head=\"{}\" "
                  "transform=\"translate({} {})\"",
                  numbers_.css_class, site_key(source_.site), layer, head, part_word(large_.part),
                  layer, head, left_, top_);
    if (weights_.size() > max_single_cells) {
      append_paths();
    } else {
      append_cells();
    }
    const double width = static_cast<double>(axes_.columns.size()) * cell_;
    const double height = static_cast<double>(axes_.inputs.size()) * cell_;
    append_format(
        out_, "<rect class=\"frame\" x=\"-0.5\" y=\"-0.5\" width=\"{}\" height=\"{}\"/>\n</g>\n",
        width + 1, height + 1);
    double panel_width = left_ + width + std::max(2.0, columns_.beyond);
    // With few tokens the map is narrower than the text above it.
    panel_width = std::max({panel_width, std::ceil(text_width(heading_, 13, FontWeight::bold)),
                            left_ + std::ceil(text_width(axis_title(), 11))});
    return {std::move(out_), panel_width, top_ + height + 2};
  }

 private:
  bool is_mixing() const {
    return large_.part == MapPart::projected_keys || large_.part == MapPart::projected_values;
  }
  std::string_view axis_title() const {
    return source_.maps.has_projected_keys() ? "mixture of all tokens →"
           : axes_.causal                    ? "key: token read before →"
                                             : "key: source token →";
  }
  bool has_signs() const { return is_mixing() || large_.part == MapPart::difference; }
  /// Returns the LSH data if the weights of one LSH head are drawn.
  const RecordedLshHead* hashed_head() const {
    if (!large_.layer || !large_.head || large_.part != MapPart::weights) return nullptr;
    return source_.maps.hashed(*large_.layer, *large_.head);
  }

  void append_headings() {
    append_format(out_, "<text class=\"heading\" x=\"0\" y=\"13\">{}</text>\n", heading_);
    append_format(out_, "<text class=\"quiet small\" x=\"{}\" y=\"{}\">{}</text>\n", left_,
                  head_heading_height + 11, axis_title());
    const double lowest = top_ - label_gap - 2;
    const bool both = !axes_.outputs.empty();
    append_format(out_, "<text class=\"quiet small end\" x=\"{}\" y=\"{}\">{} ↓</text>\n",
                  left_ - label_gap, both ? lowest - 17 : lowest, is_mixing() ? "token" : "query");
    if (!both) return;
    const double arrow = arrow_width(rows_.plan.font_size);
    const double reads_end = left_ - label_gap - rows_.outputs - arrow;
    append_format(out_, "<text class=\"quiet small end\" x=\"{}\" y=\"{}\">reads</text>\n",
                  reads_end, lowest);
    append_format(out_, "<text class=\"quiet small middle\" x=\"{}\" y=\"{}\">→</text>\n",
                  reads_end + arrow / 2, lowest);
    append_format(out_, "<text class=\"quiet small\" x=\"{}\" y=\"{}\">writes</text>\n",
                  reads_end + arrow, lowest);
  }

  void append_columns() {
    out_ += "<g class=\"keys\">\n";
    const double size = columns_.plan.font_size;
    const double y = top_ - label_gap;
    const std::string_view plain = label_class(size);
    const std::string middle = fmt::format("middle {}", plain);
    for (std::size_t key = 0; key < axes_.columns.size(); key += columns_.plan.step) {
      const double centre = left_ + (static_cast<double>(key) + 0.5) * cell_;
      double x = centre;
      std::string turn;
      if (columns_.slant == Slant::slanted) {
        x = centre + 2;
        turn = fmt::format(" transform=\"rotate(-45 {} {})\"", x, y);
      } else if (columns_.slant == Slant::upright) {
        x = std::round((centre + 0.36 * size) * 10) / 10;
        turn = fmt::format(" transform=\"rotate(-90 {} {})\"", x, y);
      }
      append_label(out_, axes_.columns[key],
                   {columns_.slant == Slant::level ? middle : plain, size, columns_.label, turn}, x,
                   y);
    }
    out_ += "</g>\n";
  }

  void append_paths() {
    out_ += " data-weights=\"";
    append_weight_rows(out_, weights_, axes_.columns.size());
    out_ += "\">\n";
    append_compact_cells(out_, axes_, {weights_, large_.uncomputed, has_signs()}, cell_);
  }

  void append_cells() {
    out_ += ">\n";
    std::vector<std::string> keys;
    for (const std::string& label : axes_.columns) {
      keys.push_back(xml_escaped(truncate_to_width(label, cell_title_columns)));
    }
    for (std::size_t row = 0; row < axes_.inputs.size(); ++row) {
      std::string query = xml_escaped(truncate_to_width(axes_.inputs[row], cell_title_columns));
      if (!axes_.outputs.empty()) {
        query += " → " + xml_escaped(truncate_to_width(axes_.outputs[row], cell_title_columns));
      }
      append_format(out_, "<g class=\"row\" data-query=\"{}\">\n", row);
      for (std::size_t key = 0; key < keys.size(); ++key) append_cell(row, key, query, keys[key]);
      out_ += "</g>\n";
    }
  }

  void append_cell(std::size_t row, std::size_t key, const std::string& query_label,
                   const std::string& key_label) {
    const float weight = weights_[row * axes_.columns.size() + key];
    const bool masked = axes_.is_masked(row, key, weight);
    const bool uncomputed = axes_.is_left_out(large_.uncomputed, row, key, weight);
    const bool hidden = masked || uncomputed;
    out_ += hidden ? "<g class=\"cell hidden\" data-weight=\"" : "<g class=\"cell\" data-weight=\"";
    append_float(out_, weight);
    append_format(out_, "\" data-key=\"{}\"><title>", key);
    append_float(out_, weight);
    const RecordedLshHead* hashed = hashed_head();
    const bool best = hashed != nullptr && at(hashed->best, row) == to_int(key);
    append_format(out_, "{}\n{} {}: {}\n{} {}: {}{}</title>",
                  masked       ? " (masked)"
                  : uncomputed ? " (not computed)"
                               : "",
                  is_mixing() ? "token" : "query", row, query_label,
                  source_.maps.has_projected_keys() ? "mixture" : "key", key, key_label,
                  !best        ? ""
                  : uncomputed ? "\nthe row's best key, which it did not meet"
                               : "\nthe row's best key");
    const bool negative = has_signs() && weight < 0;
    const int level = color_level(negative ? -weight : weight);
    std::string paint = masked       ? "masked"
                        : uncomputed ? "left-out"
                        : negative   ? fmt::format("n{}", level)
                                     : fmt::format("s{}", level);
    if (!std::isfinite(weight)) paint = "odd";
    const auto side = to_size(cell_);
    // Larger cells are separated by a line of background.
    const int drawn = cell_ >= 20 && !hidden ? cell_ - 1 : cell_;
    append_format(out_, "<rect class=\"{0}\" x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{3}\"/>",
                  paint, key * side, row * side, drawn);
    if (!hidden) append_number_text(row, key, weight, level);
    if (best) {
      append_format(out_, "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
                    uncomputed ? "best-key unmet" : "best-key", key * side + 1, row * side + 1,
                    cell_ - 3, cell_ - 3);
    }
    out_ += "</g>\n";
  }

  /// Appends two decimals, as on the terminal.
  void append_number_text(std::size_t row, std::size_t key, float weight, int level) {
    if (numbers_.css_class.empty()) return;
    const bool finite = std::isfinite(weight);
    const std::string text = finite && has_signs() ? two_decimals(weight)
                             : finite ? fmt::format("{:.2f}", weight == 0 ? 0.0f : weight)
                             : std::isnan(weight) ? "NaN"
                             : weight > 0         ? "∞"
                                                  : "−∞";
    if (text_width(text, numbers_.size) > cell_ - 1) return;
    const auto centre = [this](std::size_t index) {
      return (static_cast<double>(index) + 0.5) * cell_ - 0.5;
    };
    append_format(out_, "<text class=\"value{}\" x=\"{}\" y=\"{}\">{}</text>",
                  !finite                        ? ""
                  : level >= inverted_text_level ? " strong"
                  : text == "0.00"               ? " faint"
                                                 : "",
                  centre(key), std::round((centre(row) + 0.365 * numbers_.size) * 10) / 10, text);
  }

  const MapSource& source_;
  const MapLabels& axes_;
  const LargeMap& large_;
  std::span<const float> weights_;
  int cell_;  ///< pixels
  RowLabelPlan rows_;
  ColumnLabels columns_;
  NumberFont numbers_;
  std::string heading_;
  double left_ = 0;
  double top_ = 0;
  std::string out_;
};

}  // namespace

Panel head_panel(const MapSource& source, const LargeMap& large) {
  return HeadMapPanel(source, large).draw();
}

}  // namespace attn
