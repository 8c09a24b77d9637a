#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/strings/plural.h"
#include "config/attention_site.h"
#include "record/attention_maps.h"
#include "view/svg/map/map_drawing.h"
#include "view/svg/map/map_panels.h"
#include "view/svg/svg_text.h"

namespace attn {
namespace {

void add_exact(std::vector<Panel>& panels, const MapSource& source, const LargeMap& large,
               std::span<const float> exact) {
  LargeMap beside = large;
  beside.weights = exact;
  beside.part = MapPart::exact;
  panels.push_back(head_panel(source, beside));
  std::vector<float> difference(large.weights.begin(), large.weights.end());
  for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= exact[i];
  beside.weights = difference;
  beside.part = MapPart::difference;
  panels.push_back(head_panel(source, beside));
}

}  // namespace

std::vector<Panel> side_panels(const MapSource& source, const LargeMap& large,
                               std::span<const float> exact_mean) {
  std::vector<Panel> panels;
  const AttentionMaps& maps = source.maps;
  const bool one = large.layer && large.head;
  if (one && source.relative_bias != nullptr) {
    panels.push_back(relative_bias_panel(source, {*large.layer, *large.head}));
  }
  if (!maps.approximation) return panels;
  if (maps.has_projected_keys() && large.layer) {
    for (const MapPart part : {MapPart::projected_keys, MapPart::projected_values}) {
      const auto mixing = maps.projection(*large.layer, part == MapPart::projected_values);
      panels.push_back(head_panel(source, {large.layer, std::nullopt, mixing, {}, part}));
    }
  }
  const std::span<const float> exact = one ? maps.exact(*large.layer, *large.head) : exact_mean;
  if (!exact.empty()) add_exact(panels, source, large, exact);
  if (one && maps.hashed(0, 0) != nullptr) {
    panels.push_back(lsh_bucket_panel(source, {*large.layer, *large.head}));
  }
  return panels;
}

namespace {

constexpr double strip_left = 54;     // room for "round 12"
constexpr double strip_top = 62;      // below the headings
constexpr double bucket_height = 14;  // height of a bucket's number above its first token
constexpr double strip_gap = 8;
constexpr int max_in_line = 64;  // tokens
constexpr int bucket_colors = 4;
constexpr double strip_label = 110;  // height of the labels in pixels

class LshBucketStrips {
 public:
  LshBucketStrips(const MapSource& source, HeadIndex place)
      : source_(source),
        place_(place),
        order_(source.maps.hashed(place.layer, place.head)->order),
        cell_(source.maps.queries <= max_in_line ? 20 : 12),
        labels_(plan_labels(cell_, 11)),
        label_height_(widest_label(source.axes.columns, labels_, strip_label)) {}

  Panel draw() {
    const LshRecall found = lsh_recall(source_.maps, place_.layer, place_.head);
    const std::string heading =
        fmt::format("{}: {} of {} found their best key",
                    to_string(HeadName{source_.site, place_.layer, place_.head}),
                    found.found_count(), counted(found.of, "row"));
    const std::string share = fmt::format(
        "{:.2f} of full attention's weights on others belong to keys that were compared",
        found.mass);
    append_format(out_,
                  "<text class=\"heading\" x=\"0\" y=\"13\">{}</text>\n"
                  "<text class=\"quiet small\" x=\"0\" y=\"30\">{}</text>\n",
                  heading, share);
    const double titles =
        std::ceil(std::max(text_width(heading, 13, FontWeight::bold), text_width(share, 11)));
    if (order_.buckets.empty()) {
      append_format(out_,
                    "<text class=\"quiet\" x=\"0\" y=\"{}\">The sentence is one chunk: nothing "
                    "is hashed.</text>\n",
                    strip_top);
      return {std::move(out_), std::max(titles, 360.0), strip_top + 8};
    }
    append_format(out_,
                  "<text class=\"quiet small\" x=\"0\" y=\"44\">tokens by bucket (its number "
                  "above); a bar ends a chunk of {},</text>\n<text class=\"quiet small\" x=\"0\" "
                  "y=\"58\">which sees itself and the one before it</text>\n",
                  order_.chunk);
    double y = strip_top + 6;
    for (std::size_t round = 0; round < order_.order.size(); ++round) y = append_round(round, y);
    const auto longest = std::min(to_size(max_in_line), order_.order.front().size());
    return {std::move(out_),
            std::max({strip_left + static_cast<double>(longest) * cell_ + 2, titles, 430.0}), y};
  }

 private:
  /// Draws a round and returns the position of the next one.
  double append_round(std::size_t round, double y) {
    const std::vector<std::int32_t>& tokens = order_.order[round];
    append_format(out_, "<g class=\"round\" data-round=\"{}\">\n", round);
    append_format(out_, "<text class=\"quiet small\" x=\"0\" y=\"{}\">round {}</text>\n",
                  y + bucket_height + cell_ * 0.7, round);
    for (std::size_t first = 0; first < tokens.size(); first += to_size(max_in_line)) {
      const std::size_t end = std::min(tokens.size(), first + to_size(max_in_line));
      for (std::size_t i = first; i < end; ++i) {
        append_token(round, i, strip_left + static_cast<double>(i - first) * cell_, y);
      }
      y += bucket_height + cell_ + 5 + label_height_ + strip_gap;
    }
    out_ += "</g>\n";
    return y;
  }

  void append_token(std::size_t round, std::size_t i, double x, double y) {
    const std::vector<std::int32_t>& tokens = order_.order[round];
    const std::int32_t token = tokens[i];
    const auto bucket_at = [&](std::size_t place) {
      return at(order_.buckets[round], tokens[place]);
    };
    const std::int32_t bucket = bucket_at(i);
    const double top = y + bucket_height;
    if (i == 0 || bucket_at(i - 1) != bucket) {
      append_format(out_, "<text class=\"quiet label-9\" x=\"{}\" y=\"{}\">{}</text>\n", x + 3,
                    top - 3, bucket);
    }
    const std::string label = xml_escaped(at(source_.axes.columns, token));
    append_format(out_,
                  "<rect class=\"bucket{0}\" data-token=\"{1}\" data-bucket=\"{2}\" x=\"{3}\" "
                  "y=\"{4}\" width=\"{5}\" height=\"{5}\"><title>{6}: bucket {2}</title></rect>\n",
                  bucket % bucket_colors, token, bucket, x, top, cell_ - 1, label);
    if ((i + 1) % to_size(order_.chunk) == 0 && i + 1 < tokens.size()) {
      append_format(out_,
                    "<line class=\"chunk-end\" x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\"/>\n",
                    x + cell_ - 0.5, top - 4, top + cell_ + 3);
    }
    const double size = labels_.font_size;
    const double text_x = std::round((x + cell_ / 2.0 + 0.36 * size) * 10) / 10;
    const double text_y = top + cell_ + 5;
    const std::string turn = fmt::format(" transform=\"rotate(-90 {} {})\"", text_x, text_y);
    append_label(out_, at(source_.axes.columns, token),
                 {fmt::format("end {}", label_class(size)), size, label_height_, turn}, text_x,
                 text_y);
  }

  const MapSource& source_;
  HeadIndex place_;
  const LshBuckets& order_;
  int cell_;  ///< pixels
  LabelPlan labels_;
  double label_height_;
  std::string out_;
};

}  // namespace

Panel lsh_bucket_panel(const MapSource& source, HeadIndex place) {
  return LshBucketStrips(source, place).draw();
}

// For models with a relative position bias (T5): the bias that a head adds to a score based only on
// the distance between query and key and, beside it, the head's weight by distance in this
// sentence.
namespace {

constexpr double plot_left = 44;  // pixels, for the numbers of the axis
constexpr double plot_width = 360;
constexpr double plot_height = 96;
constexpr double heading_height = 26;
constexpr double plot_gap = 34;
constexpr double widest_bar = 24;

/// One number per distance, key − query, starting at `first`.
struct ByDistance {
  std::string_view word;  ///< name of the elements' data attribute
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

/// Returns the index of the largest finite number; 0 if there is none.
std::size_t largest(const ByDistance& plot) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < plot.values.size(); ++i) {
    const bool first = !std::isfinite(plot.values[best]);
    if (std::isfinite(plot.values[i]) && (first || plot.values[i] > plot.values[best])) best = i;
  }
  return best;
}

/// Returns this head's weight by distance, averaged over the rows that have a key at that distance.
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

  /// Labels both ends of the axis, and distance 0 if there is room between them.
  void append_distances(const ByDistance& plot, double y) {
    constexpr double room = 28;  // width of one number
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
  double top_ = 0;  ///< top of the next plot
  double width_ = 0;
  std::string out_;
};

}  // namespace

Panel relative_bias_panel(const MapSource& source, HeadIndex place) {
  return RelativeBiasPanel(source, place).draw();
}

}  // namespace attn
