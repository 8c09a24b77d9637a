#include "view/svg/attention_patterns_svg.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "view/color.h"
#include "view/svg/picture.h"
#include "view/svg/plot.h"
#include "view/svg/svg_text.h"

namespace attn {
namespace {

constexpr int kGrowthWidth = 900;
constexpr double kPlotTop = 84;
constexpr double kPlotBottom = 404;
constexpr double kPlotWidth = 350;
constexpr std::array kPlotLeft{76.0, 522.0};
constexpr double kLegendTop = 474;
constexpr double kLegendRow = 22;
constexpr int kLegendColumns = 2;

struct PatternColor {
  const char* light;
  const char* dark;
};

constexpr std::array<PatternColor, 10> kPatternColors{{{"#1f2328", "#e6edf3"},
                                                       {"#1f6fb5", "#6cb3f5"},
                                                       {"#0b7d5c", "#43c59b"},
                                                       {"#9a4c95", "#d795d2"},
                                                       {"#a87900", "#e0b84c"},
                                                       {"#8a6d3b", "#c4a574"},
                                                       {"#1b8fa3", "#5fd0e0"},
                                                       {"#c2500a", "#f4924d"},
                                                       {"#c0304f", "#f4788f"},
                                                       {"#6a51c4", "#a99af0"}}};

std::string styles() {
  std::string light, dark;
  for (std::size_t i = 0; i < kPatternColors.size(); ++i) {
    light += fmt::format(".attn-curve .k{0}{{stroke:{1};fill:{1}}}\n", i, kPatternColors[i].light);
    dark += fmt::format(".attn-curve .k{0}{{stroke:{1};fill:{1}}}\n", i, kPatternColors[i].dark);
  }
  return fmt::format(
      "<style>\n{}.attn-curve .line{{fill:none}}\n.attn-curve .strong{{stroke-width:3}}\n"
      ".attn-curve .dashed{{stroke-dasharray:6 4}}\n@media (prefers-color-scheme:dark){{\n{}"
      ".attn-curve .line{{fill:none}}\n}}\n</style>\n",
      light, dark);
}

/// Formats a power of ten with its unit: "3 ms", "2 s"; "10 MB".
std::string with_unit(double value, bool time) {
  constexpr std::array kTimes{"ns", "µs", "ms", "s"};
  constexpr std::array kSizes{"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  const std::size_t last = time ? kTimes.size() - 1 : kSizes.size() - 1;
  double shown = time ? value * 1e9 : value;
  while (shown > 999.5 && unit < last) {
    shown /= 1000;
    ++unit;
  }
  return fmt::format("{:g} {}", std::round(shown), time ? kTimes[unit] : kSizes[unit]);
}

/// One of the two plots, with logarithmic axes.
struct CostGrowthPlot {
  double left = 0;
  bool time = true;
  Axis lengths, values;

  double x(double length) const { return lengths.pixel(std::log2(length)); }
  double y(double value) const { return values.pixel(std::log10(std::max(value, 1e-12))); }
};

class CostGrowthPicture {
 public:
  explicit CostGrowthPicture(const std::vector<CostGrowthLine>& lines) : lines_(lines) {}

  std::string svg(const std::string& title) {
    const auto rows = (lines_.size() + kLegendColumns - 1) / kLegendColumns;
    put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"attn-curve attn-growth\" role=\"img\" "
        "width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<title>{2}</title>\n",
        kGrowthWidth, kLegendTop + kLegendRow * static_cast<double>(rows) + 8, xml_escaped(title));
    out_ += kPlotStyle;
    out_ += styles();
    put("<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n<text class=\"title\" x=\"{}\" "
        "y=\"34\">{}</text>\n",
        kPlotLeft[0], xml_escaped(title));
    for (const bool time : {true, false}) put_plot(plot_of(time));
    put_legend();
    return std::move(out_) + "</svg>\n";
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  static const std::vector<double>& values_of(const CostCurve& curve, bool time) {
    return time ? curve.seconds : curve.bytes;
  }

  CostGrowthPlot plot_of(bool time) const {
    CostGrowthPlot plot{kPlotLeft[time ? 0 : 1], time, {}, {}};
    ValueRange lengths, values;
    for (const CostGrowthLine& line : lines_) {
      for (const double length : line.curve.lengths) lengths.include(std::log2(length));
      for (const double value : values_of(line.curve, time)) {
        values.include(std::log10(std::max(value, 1e-12)));
      }
    }
    plot.lengths.low = lengths.low - 0.15;
    plot.lengths.high = lengths.high + 0.15;
    plot.lengths.first_pixel = plot.left;
    plot.lengths.last_pixel = plot.left + kPlotWidth;
    plot.values.low = std::floor(values.low + 1e-9);
    plot.values.high = std::max(plot.values.low + 1, std::ceil(values.high - 1e-9));
    plot.values.first_pixel = kPlotBottom;
    plot.values.last_pixel = kPlotTop;
    return plot;
  }

  void put_plot(const CostGrowthPlot& plot) {
    const double right = plot.left + kPlotWidth;
    put("<text class=\"head\" x=\"{}\" y=\"{}\">{}</text>\n", plot.left, kPlotTop - 14,
        plot.time ? "time" : "memory beyond queries, keys and values");
    const int powers = static_cast<int>(plot.values.high - plot.values.low + 1e-9);
    for (int i = 0; i <= powers; ++i) {
      const double power = plot.values.low + i;
      const double y = plot.values.pixel(power);
      put("<line class=\"grid\" x1=\"{0}\" y1=\"{2:.2f}\" x2=\"{1}\" y2=\"{2:.2f}\"/>\n<text "
          "x=\"{3}\" y=\"{4:.2f}\" text-anchor=\"end\">{5}</text>\n",
          plot.left, right, y, plot.left - 8, y + 4, with_unit(std::pow(10, power), plot.time));
    }
    const int first = to_int(std::lround(std::ceil(plot.lengths.low)));
    const int last = to_int(std::lround(std::floor(plot.lengths.high)));
    for (int power = first, step = 1 + (last - first) / 7; power <= last; power += step) {
      const double x = plot.lengths.pixel(power);
      put("<line class=\"grid\" x1=\"{0:.2f}\" y1=\"{1}\" x2=\"{0:.2f}\" y2=\"{2}\"/>\n<text "
          "x=\"{0:.2f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
          x, kPlotTop, kPlotBottom, kPlotBottom + 19,
          count_label(std::exp2(power), std::exp2(power)));
    }
    put("<line class=\"axis\" x1=\"{0}\" y1=\"{2}\" x2=\"{1}\" y2=\"{2}\"/>\n<text x=\"{3}\" "
        "y=\"{4}\" text-anchor=\"middle\">tokens</text>\n",
        plot.left, right, kPlotBottom, plot.left + kPlotWidth / 2, kPlotBottom + 41);
    // The first kind is drawn last, so that it is above the others.
    for (std::size_t i = lines_.size(); i-- > 0;) put_line(plot, i);
  }

  std::string look(std::size_t i) const {
    return fmt::format("k{}{}{}", i % kPatternColors.size(), i == 0 ? " strong" : "",
                       lines_[i].curve.approximate ? " dashed" : "");
  }

  void put_line(const CostGrowthPlot& plot, std::size_t i) {
    const CostCurve& curve = lines_[i].curve;
    const std::vector<double>& values = values_of(curve, plot.time);
    put("<polyline class=\"line {}\" points=\"", look(i));
    for (std::size_t n = 0; n < values.size(); ++n) {
      put("{:.2f},{:.2f} ", plot.x(curve.lengths[n]), plot.y(values[n]));
    }
    out_.back() = '"';
    put("/>\n<g class=\"k{}\">\n", i % kPatternColors.size());
    for (std::size_t n = 0; n < values.size(); ++n) {
      put("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\"><title>{}, {} tokens: "
          "{}</title></circle>\n",
          plot.x(curve.lengths[n]), plot.y(values[n]), i == 0 ? 3 : 2, xml_escaped(curve.kind),
          count_label(curve.lengths[n], curve.lengths[n]), exact(values[n], plot.time));
    }
    out_ += "</g>\n";
  }

  static std::string exact(double value, bool time) {
    return time ? fmt::format("{:.3g} s", value) : fmt::format("{:.3g} MB", value / 1e6);
  }

  void put_legend() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const auto rows = (lines_.size() + kLegendColumns - 1) / kLegendColumns;
      const auto column = i / rows;
      const double x = kPlotLeft[0] + (kPlotLeft[1] - kPlotLeft[0]) * static_cast<double>(column);
      const double y = kLegendTop + kLegendRow * static_cast<double>(i % rows);
      put("<path class=\"line {}\" d=\"M{} {}h30\"/>\n<text x=\"{}\" y=\"{}\"><tspan "
          "class=\"head\">{}</tspan> {}</text>\n",
          look(i), x, y - 4, x + 38, y, xml_escaped(lines_[i].curve.kind),
          xml_escaped(lines_[i].exponents));
    }
  }

  const std::vector<CostGrowthLine>& lines_;
  std::string out_;
};

}  // namespace

std::string cost_growth_svg(const std::string& title, const std::vector<CostGrowthLine>& lines) {
  return CostGrowthPicture(lines).svg(title);
}

std::string attention_costs_svg(const AttentionCosts& costs) {
  std::vector<CostGrowthLine> lines;
  for (CostCurve& curve : cost_curves(costs.measured)) lines.push_back({std::move(curve), ""});
  for (const CostGrowth& fit : costs.growth) {
    for (CostGrowthLine& line : lines) {
      if (line.curve.kind != fit.kind) continue;
      line.exponents =
          fmt::format("time N^{:.2f}, memory N^{:.2f}", fit.time_exponent, fit.memory_exponent);
    }
  }
  return cost_growth_svg(fmt::format("Attention alone{}{}: {}", costs.causal ? ", causal" : "",
                                     costs.backward ? ", both ways" : "", heads_and_threads(costs)),
                         lines);
}

namespace {

constexpr int picture_side = 512;  // maximum, in pixels
constexpr int largest_side = 24;   // maximum, of a cell
constexpr double axis_left = 54;
constexpr double axis_top = 24;
constexpr int max_samples = 24;

/// Returns the color level of a layer, counted from 1: the first layer is darkest.
int level_of(int layer, int layers) {
  const int lightest = color_levels / 6, darkest = color_levels - 1;
  return layers < 2 ? darkest : darkest - (darkest - lightest) * (layer - 1) / (layers - 1);
}

Panel map_panel(const ReceptiveField& field) {
  const int layers = to_int(field.after.size());
  const int cell = std::clamp(picture_side / std::max(1, field.side), 1, largest_side);
  const int side = cell * field.side;
  Panel panel{"", axis_left + side + 2, axis_top + side + 2};
  std::vector<std::string> paths(to_size(layers) + 1);
  for (int row = 0; row < field.side; ++row) {
    for (int first = 0, end = 0; first < field.side; first = end) {
      const auto at_row = to_index(row) * field.side;
      const int layer = at(field.first, at_row + first);
      while (end < field.side && at(field.first, at_row + end) == layer) ++end;
      append_format(at(paths, layer), "M{} {}h{}v1h-{}z", first, row, end - first, end - first);
    }
  }
  append_format(panel.svg, "<text class=\"quiet small\" x=\"{}\" y=\"{}\">is seen →</text>\n",
                axis_left, axis_top - 8);
  append_format(panel.svg, "<text class=\"quiet small end\" x=\"{}\" y=\"{}\">sees ↓</text>\n",
                axis_left - 6, axis_top - 8);
  for (const auto& [token, y] :
       {std::pair{0, axis_top + 10}, {field.tokens - 1, axis_top + side}}) {
    append_format(panel.svg, "<text class=\"quiet small end\" x=\"{}\" y=\"{}\">{}</text>\n",
                  axis_left - 6, y, token);
  }
  append_format(panel.svg, "<g transform=\"translate({} {})\">\n<g class=\"cells\" ", axis_left,
                axis_top);
  append_format(panel.svg, "transform=\"scale({})\">\n", cell);
  for (int layer = 1; layer <= layers; ++layer) {
    if (at(paths, layer).empty()) continue;
    append_format(panel.svg, "<path class=\"s{}\" data-layers=\"{}\" d=\"{}\"/>\n",
                  level_of(layer, layers), layer, at(paths, layer));
  }
  append_format(panel.svg,
                "</g>\n<rect class=\"frame\" x=\"-0.5\" y=\"-0.5\" width=\"{0}\" "
                "height=\"{0}\"/>\n</g>\n",
                side + 1);
  return panel;
}

Panel legend_panel(const ReceptiveField& field) {
  const int layers = to_int(field.after.size());
  Panel panel{"<text class=\"quiet\" x=\"0\" y=\"11.5\">layers until seen</text>\n", 112, 20};
  const auto add = [&](std::string_view mark, const std::string& text) {
    append_format(panel.svg,
                  "<rect class=\"{}\" x=\"{}\" y=\"0.5\" width=\"14\" height=\"14\"/>\n"
                  "<text class=\"quiet\" x=\"{}\" y=\"11.5\">{}</text>\n",
                  mark, panel.width, panel.width + 20, text);
    panel.width += 46;
  };
  const int step = (layers + max_samples - 1) / max_samples;
  for (int layer = 1; layer <= layers; layer += std::max(1, step)) {
    add(fmt::format("s{}", level_of(layer, layers)), fmt::format("{}", layer));
  }
  if (std::find(field.first.begin(), field.first.end(), 0) != field.first.end()) {
    add("frame", "never");
    panel.width += 20;
  }
  return panel;
}

}  // namespace

std::string receptive_field_svg(const ReceptiveField& field, const std::string& model) {
  PictureText text;
  text.title = "Receptive field";
  text.description =
      "Each row is a token, and says after how many layers it has seen each other token (columns): "
      "the "
      "darker, the earlier. Where nothing is drawn it never sees it.";
  if (field.side < field.tokens) {
    text.sentences.push_back(
        fmt::format("A cell is a block of {} tokens or so: the first of them that any sees.",
                    (field.tokens + field.side / 2) / field.side));
  }
  text.model = model;
  return framed_picture(text, "attn-receptive", {map_panel(field)}, legend_panel(field));
}

}  // namespace attn
