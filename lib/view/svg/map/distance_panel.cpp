// Of models with relative positions (T5): what a head adds to a score by the distance between query
// and key alone, and beside it where its weight lies in this sentence.
#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "view/svg/map/map_panels.h"
#include "view/svg/svg_text.h"
#include "view/svg/xml_text.h"

namespace attn {
namespace {

constexpr double plot_left = 44;  // pixels, for the numbers of the axis
constexpr double plot_width = 360;
constexpr double plot_height = 96;
constexpr double heading_height = 26;
constexpr double plot_gap = 34;
constexpr double widest_bar = 24;

/// A number for each distance, key − query, from `first` on.
struct ByDistance {
  std::string_view word;  ///< of the elements' data
  std::string heading;
  int first = 0;
  std::vector<double> values;

  int distance(std::size_t i) const { return first + to_int(i); }
};

std::string with_sign(int number) {
  return number < 0 ? fmt::format("−{}", -number)
                    : fmt::format("{}{}", number > 0 ? "+" : "", number);
}

std::string with_sign(double number) {
  const std::string text = fmt::format("{:.2f}", std::abs(number));
  return number < 0 && text != "0.00" ? "−" + text : text;
}

/// The largest finite one; 0 where there is none.
std::size_t largest(const ByDistance& plot) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < plot.values.size(); ++i) {
    const bool first = !std::isfinite(plot.values[best]);
    if (std::isfinite(plot.values[i]) && (first || plot.values[i] > plot.values[best])) best = i;
  }
  return best;
}

/// How far this head's weight lies away, averaged over the rows that have a key there.
ByDistance weights_of(const MapSource& source, HeadIndex place, int first) {
  const AttentionMaps& maps = source.maps;
  const std::span<const float> weights = maps.map(place.layer, place.head);
  ByDistance plot{"weight", "", first, {}};
  const int last = source.axes.causal ? 0 : maps.keys - 1;
  for (int distance = first; distance <= last; ++distance) {
    double sum = 0;
    int rows = 0;
    for (int query = 0; query < maps.queries; ++query) {
      const int key = query + distance;
      if (key < 0 || key >= maps.keys) continue;
      sum += at(weights, to_index(query) * maps.keys + key);
      ++rows;
    }
    plot.values.push_back(rows > 0 ? sum / rows : 0);
  }
  return plot;
}

class RelativeBiasPanel {
 public:
  RelativeBiasPanel(const MapSource& source, HeadIndex place) : source_(source), place_(place) {}

  Panel draw() {
    const int keys = source_.maps.keys;
    const std::size_t shown = to_size(source_.axes.causal ? keys : 2 * keys - 1);
    const std::span<const float> row =
        source_.relative_bias->row(place_.layer, place_.head, 0).first(shown);
    ByDistance bias{"bias", "", 1 - keys, {row.begin(), row.end()}};
    bar_ = std::clamp(plot_width / static_cast<double>(shown), 1.0, widest_bar);
    bias.heading = heading("bias by distance, key − query: the most", bias);
    append_plot(bias);
    ByDistance weights = weights_of(source_, place_, 1 - keys);
    weights.heading = heading("mean weight by distance: the most", weights);
    append_plot(weights);
    return {std::move(out_), width_, top_ - plot_gap + 22};
  }

 private:
  static std::string heading(std::string_view what, const ByDistance& plot) {
    const std::size_t best = largest(plot);
    return fmt::format("{}, {}, at {}", what, with_sign(plot.values[best]),
                       with_sign(plot.distance(best)));
  }

  void append_text(std::string_view css_class, double x, double y, std::string_view text) {
    append_format(out_, "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", css_class, x, y,
                  text);
  }

  void append_bars(const ByDistance& plot, double zero, double scale) {
    const std::size_t best = largest(plot);
    for (std::size_t i = 0; i < plot.values.size(); ++i) {
      const double value = plot.values[i];
      const double height = std::isfinite(value) ? std::abs(value) * scale : 0;
      append_format(out_,
                    "<g{}><rect class=\"end-mark\" data-distance=\"{}\" data-{}=\"{}\" "
                    "x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"><title>key − "
                    "query = {}: {}</title></rect></g>\n",
                    i == best ? " class=\"best\"" : "", plot.distance(i), plot.word,
                    static_cast<float>(value), plot_left + static_cast<double>(i) * bar_,
                    value > 0 ? zero - height : zero, bar_ > 3 ? bar_ - 1 : bar_, height,
                    with_sign(plot.distance(i)), static_cast<float>(value));
    }
  }

  void append_plot(const ByDistance& plot) {
    double low = 0, high = 0;
    for (const double value : plot.values) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    const double scale = plot_height / (high > low ? high - low : 1);
    const double top = top_ + heading_height, zero = top + high * scale;
    const double right = plot_left + static_cast<double>(plot.values.size()) * bar_;
    append_text("heading", 0, top_ + 13, plot.heading);
    append_format(out_,
                  "<g class=\"by-distance\" id=\"{}-{}-{}-{}-by-distance\" data-layer=\"{}\" "
                  "data-head=\"{}\">\n",
                  site_key(source_.site), place_.layer, place_.head, plot.word, place_.layer,
                  place_.head);
    append_bars(plot, zero, scale);
    append_format(out_,
                  "</g>\n<line class=\"tick-line\" x1=\"{0}\" y1=\"{2:.2f}\" x2=\"{1:.2f}\" "
                  "y2=\"{2:.2f}\"/>\n",
                  plot_left, right, zero);
    for (const double value : {high, low}) {
      if (value == 0) continue;
      append_text("quiet small end", plot_left - 6, zero - value * scale + 4, with_sign(value));
    }
    append_distances(plot, top + plot_height + 14);
    const double heading_width = std::ceil(text_width(plot.heading, 13, FontWeight::bold));
    width_ = std::max({width_, right + 12, heading_width});
    top_ = top + plot_height + plot_gap;
  }

  /// The ends, and the query's own place where there is room between them.
  void append_distances(const ByDistance& plot, double y) {
    constexpr double room = 28;  // of one number
    const std::size_t own = to_size(-plot.first), last = plot.values.size() - 1;
    const auto append_at = [&](std::size_t i) {
      append_text("quiet small middle", plot_left + (static_cast<double>(i) + 0.5) * bar_, y,
                  with_sign(plot.distance(i)));
    };
    append_at(last);
    if (static_cast<double>(last) * bar_ >= room) append_at(0);
    if (own != last && static_cast<double>(own) * bar_ >= room) append_at(own);
  }

  const MapSource& source_;
  HeadIndex place_;
  double bar_ = 1;  ///< pixels
  double top_ = 0;  ///< of the next plot
  double width_ = 0;
  std::string out_;
};

}  // namespace

Panel relative_bias_panel(const MapSource& source, HeadIndex place) {
  return RelativeBiasPanel(source, place).draw();
}

}  // namespace attn
