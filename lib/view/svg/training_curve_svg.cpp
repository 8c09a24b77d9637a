#include "view/svg/training_curve_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/strings/utf8.h"
#include "view/svg/plot.h"
#include "view/svg/svg_text.h"

namespace attn {
namespace {

constexpr int kWidth = 760;
constexpr int kHeight = 520;
constexpr double kLeft = 64;
constexpr double kRight = 728;
constexpr double kTitle = 34;  // baseline of a text, like kMark
constexpr double kMark = 285;  // the kept model's label, between the plots
constexpr std::size_t kMaxPoints = 1000;
constexpr std::size_t kMaxDots = 80;
constexpr double kMaxPlotted = 1e300;  // larger values would overflow double when subtracted

struct Point {
  double x = 0;
  double y = 0;
};

/// One line of a plot.
struct Series {
  const char* style;
  const char* label;
  double width;  ///< width of the label in pixels, in the widest font
  bool dotted;
  std::vector<Point> points;
};

/// One of the two plots; both share the axis of updates.
struct Plot {
  const char* head;
  double top;
  double bottom;
  Axis values;
  std::array<Series, 2> series;
};

void add(std::vector<Point>& points, std::uint64_t update, double value) {
  if (std::abs(value) <= kMaxPlotted) points.push_back({static_cast<double>(update), value});
}

/// Reduces the points to at most `most` by averaging groups of neighbors.
std::vector<Point> thinned(const std::vector<Point>& points, std::size_t most) {
  const std::size_t group = (points.size() + most - 1) / most;
  if (group <= 1) return points;
  std::vector<Point> means;
  for (std::size_t start = 0; start < points.size(); start += group) {
    const std::size_t end = std::min(start + group, points.size());
    const auto count = static_cast<double>(end - start);
    Point mean;
    for (std::size_t i = start; i < end; ++i) {
      mean.x += points[i].x / count;
      mean.y += points[i].y / count;
    }
    means.push_back(mean);
  }
  return means;
}

class TrainingCurvePicture {
 public:
  explicit TrainingCurvePicture(const TrainingCurve& curve);
  std::string svg();

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void put_grid(const Plot& plot);
  void put_head(const Plot& plot);
  void put_series(const Series& series, const Axis& values);
  void put_best();
  void put_updates();

  const TrainingCurve& curve_;
  Axis updates_;
  Plot losses_{"loss (nats per target token)",
               80,
               268,
               {},
               {Series{"train", "training loss", 74, false, {}},
                Series{"valid", "validation loss", 87, true, {}}}};
  Plot scores_{"BLEU, chrF2 (0 to 100)",
               322,
               462,
               {},
               {Series{"bleu", "BLEU", 33, true, {}}, Series{"chrf", "chrF2", 34, true, {}}}};
  std::string out_;
};

TrainingCurvePicture::TrainingCurvePicture(const TrainingCurve& curve) : curve_(curve) {
  for (const auto& [update, loss] : curve.train) add(losses_.series[0].points, update, loss);
  for (const auto& validation : curve.validations) {
    add(losses_.series[1].points, validation.update, validation.loss);
    add(scores_.series[0].points, validation.update, validation.bleu);
    add(scores_.series[1].points, validation.update, validation.chrf);
  }
  double last = curve.best_update ? static_cast<double>(*curve.best_update) : 0;
  for (Plot* plot : {&losses_, &scores_}) {
    ValueRange span;
    if (plot == &scores_) span.include(0);
    for (Series& series : plot->series) {
      series.points = thinned(series.points, kMaxPoints);
      for (const Point& point : series.points) {
        last = std::max(last, point.x);
        span.include(point.y);
      }
    }
    // Points keep some distance from the frame, but the axis of scores does not exceed 100.
    const double room = 0.02 * (span.high - span.low);
    if (plot == &scores_ && span.high == 0) span.include(1);
    if (plot == &losses_) span.low -= room;
    if (plot == &losses_ || span.high + room <= 100) span.high += room;
    plot->values = nice_axis(span, plot == &losses_ ? 7 : 5);
    plot->values.first_pixel = plot->bottom;
    plot->values.last_pixel = plot->top;
  }
  updates_ = count_axis(1.015 * last, 8);
  updates_.first_pixel = kLeft;
  updates_.last_pixel = kRight;
}

void TrainingCurvePicture::put_grid(const Plot& plot) {
  for (const double tick : updates_.ticks) {
    const double x = updates_.pixel(tick);
    put("<line class=\"grid\" x1=\"{0:.2f}\" y1=\"{1}\" x2=\"{0:.2f}\" y2=\"{2}\"/>\n", x, plot.top,
        plot.bottom);
  }
  for (const double tick : plot.values.ticks) {
    const double y = plot.values.pixel(tick);
    put("<line class=\"grid\" x1=\"{0}\" y1=\"{2:.2f}\" x2=\"{1}\" y2=\"{2:.2f}\"/>\n", kLeft,
        kRight, y);
    put("<text x=\"{}\" y=\"{:.2f}\" text-anchor=\"end\">{}</text>\n", kLeft - 10, y + 4,
        tick_label(plot.values, tick));
  }
  put("<line class=\"axis\" x1=\"{0}\" y1=\"{2}\" x2=\"{1}\" y2=\"{2}\"/>\n", kLeft, kRight,
      plot.bottom);
}

/// Draws the plot's title, and the legend from the right.
void TrainingCurvePicture::put_head(const Plot& plot) {
  const double y = plot.top - 14;
  put("<text class=\"head\" x=\"{}\" y=\"{}\">{}</text>\n", kLeft, y, plot.head);
  double x = kRight;
  for (auto series = plot.series.rbegin(); series != plot.series.rend(); ++series) {
    x -= series->width;
    put("<text x=\"{}\" y=\"{}\">{}</text>\n", x, y, series->label);
    put("<path class=\"line {}\" d=\"M{} {}h30\"/>\n", series->style, x - 38, y - 4);
    if (series->dotted) {
      put("<circle class=\"dots {}\" cx=\"{}\" cy=\"{}\" r=\"3\"/>\n", series->style, x - 23,
          y - 4);
    }
    x -= 38 + 22;
  }
}

void TrainingCurvePicture::put_series(const Series& series, const Axis& values) {
  if (series.points.size() > 1) {
    put("<polyline class=\"line {}\" points=\"", series.style);
    for (const Point& point : series.points) {
      put("{:.2f},{:.2f} ", updates_.pixel(point.x), values.pixel(point.y));
    }
    out_.back() = '"';
    put("/>\n");
  }
  const bool dots = series.dotted && series.points.size() <= kMaxDots;
  if (!dots && series.points.size() != 1) return;
  put("<g class=\"dots {}\">\n", series.style);
  for (const Point& point : series.points) {
    put("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\"><title>update {}: {} "
        "{:.5g}</title></circle>\n",
        updates_.pixel(point.x), values.pixel(point.y), series.points.size() > 30 ? 2 : 3,
        count_label(point.x, point.x), series.label, point.y);
  }
  put("</g>\n");
}

void TrainingCurvePicture::put_best() {
  if (!curve_.best_update) return;
  const auto update = static_cast<double>(*curve_.best_update);
  const double x = updates_.pixel(update);
  for (const Plot* plot : {&losses_, &scores_}) {
    put("<line class=\"best\" x1=\"{0:.2f}\" y1=\"{1}\" x2=\"{0:.2f}\" y2=\"{2}\"/>\n", x,
        plot->top, plot->bottom);
  }
  std::string label = fmt::format("best model: update {}", count_label(update, update));
  for (const auto& validation : curve_.validations) {
    if (validation.update == *curve_.best_update && std::abs(validation.bleu) < 100.05) {
      label += fmt::format(", BLEU {:.1f}", validation.bleu);
      break;
    }
  }
  // The label is kept inside the picture; 3.2 px is half a character.
  const double half = 3.2 * static_cast<double>(label.size());
  put("<text x=\"{:.2f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
      std::clamp(x, kLeft + half, kRight - half), kMark, label);
}

void TrainingCurvePicture::put_updates() {
  for (const double tick : updates_.ticks) {
    put("<text x=\"{:.2f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", updates_.pixel(tick),
        scores_.bottom + 19, count_label(tick, updates_.high));
  }
  put("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">updates</text>\n", (kLeft + kRight) / 2,
      scores_.bottom + 41);
}

std::string TrainingCurvePicture::svg() {
  const std::string title = xml_escaped(
      truncate_to_width(printable(curve_.title.empty() ? "Training curve" : curve_.title), 64));
  put("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"attn-curve\" role=\"img\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<title>{2}</title>\n",
      kWidth, kHeight, title);
  out_ += kPlotStyle;
  put("<rect class=\"page\" width=\"{}\" height=\"{}\"/>\n", kWidth, kHeight);
  put("<text class=\"title\" x=\"{}\" y=\"{}\">{}</text>\n", kLeft, kTitle, title);
  for (const Plot& plot : {std::cref(losses_), std::cref(scores_)}) {
    put_grid(plot);
    put_head(plot);
  }
  put_updates();
  put_best();
  for (const Plot& plot : {std::cref(losses_), std::cref(scores_)}) {
    for (const Series& series : plot.series) put_series(series, plot.values);
    if (plot.series[0].points.empty() && plot.series[1].points.empty()) {
      put("<text class=\"note\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">nothing measured yet"
          "</text>\n",
          (kLeft + kRight) / 2, (plot.top + plot.bottom) / 2 + 4);
    }
  }
  out_ += "</svg>\n";
  return std::move(out_);
}

}  // namespace

std::string training_curve_svg(const TrainingCurve& curve) {
  return TrainingCurvePicture(curve).svg();
}

}  // namespace attn
