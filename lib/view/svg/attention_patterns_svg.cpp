#include "view/svg/attention_patterns_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/at.h"
#include "view/svg/plot.h"
#include "view/svg/curve_style.h"
#include "view/svg/xml_text.h"

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

/// "3 ms", "2 s"; "10 MB": a power of ten with its unit.
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

/// One of the two plots: logarithms of both axes.
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
    // The first kind last, so that it lies above the others.
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

}  // namespace attn
