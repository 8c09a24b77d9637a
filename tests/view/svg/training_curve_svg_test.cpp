#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/strings/utf8.h"
#include "view/svg/small_xml.h"
#include "view/svg/training_curve_svg.h"

namespace attn {
namespace {

using test::Element;
using test::parse_xml;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Parses the picture for checks.
class Drawn {
 public:
  explicit Drawn(const TrainingCurve& curve) : svg(training_curve_svg(curve)) {
    CHECK(is_valid_utf8(svg));
    CHECK(svg.find("nan") == std::string::npos);
    CHECK(svg.find("inf") == std::string::npos);
    CHECK(svg.size() < 200000);
    elements = parse_xml(svg);
    REQUIRE(elements.size() > 10);
    CHECK(elements[0].name == "svg");
    for (const Element& element : elements) {
      for (const char* key : {"x", "x1", "x2", "cx"}) check_inside(element, key, 760);
      for (const char* key : {"y", "y1", "y2", "cy"}) check_inside(element, key, 520);
    }
  }

  static void check_inside(const Element& element, const char* key, double size) {
    if (!element.attributes.contains(key)) return;
    CHECK(element.number(key) >= 0);
    CHECK(element.number(key) <= size);
  }

  std::vector<Element> of_class(const std::string& name, const std::string& style) const {
    std::vector<Element> found;
    for (const Element& element : elements) {
      if (element.name == name && element.style() == style) found.push_back(element);
    }
    return found;
  }

  /// Returns the value labels of the upper (0) or lower (1) plot, as numbers and pixels.
  std::vector<std::pair<double, double>> value_ticks(int plot) const {
    std::vector<std::pair<double, double>> ticks;
    for (const Element& text : elements) {
      if (text.name != "text" || !text.attributes.contains("text-anchor")) continue;
      if (text.attributes.at("text-anchor") != "end") continue;
      const double pixel = text.number("y") - 4;
      if ((pixel > 300) == (plot == 1)) ticks.emplace_back(std::stod(text.text), pixel);
    }
    REQUIRE(ticks.size() >= 2);
    return ticks;
  }

  double value_at(int plot, double pixel) const {
    const auto ticks = value_ticks(plot);
    return along(ticks.front(), ticks.back(), pixel);
  }

  double update_at(double pixel) const {
    std::vector<std::pair<double, double>> ticks;
    for (const Element& text : elements) {
      if (text.name != "text" || text.number("y") != 481) continue;
      std::string digits = text.text;
      std::erase(digits, ',');
      ticks.emplace_back(std::stod(digits), text.number("x"));
    }
    REQUIRE(ticks.size() >= 2);
    return along(ticks.front(), ticks.back(), pixel);
  }

  /// Returns the points of a line, as update and value.
  std::vector<std::pair<double, double>> line(const std::string& style, int plot) const {
    const auto lines = of_class("polyline", "line " + style);
    REQUIRE(lines.size() == 1);
    std::vector<std::pair<double, double>> points;
    const char* at = lines[0].attributes.at("points").c_str();
    for (char* end = nullptr; *at != '\0'; at = end) {
      const double x = std::strtod(at, &end);
      REQUIRE(*end == ',');
      const double y = std::strtod(end + 1, &end);
      points.emplace_back(update_at(x), value_at(plot, y));
    }
    return points;
  }

  std::string texts() const {
    std::string all;
    for (const Element& element : elements) {
      if (element.name == "text") all += element.text + "\n";
    }
    return all;
  }

  std::string svg;
  std::vector<Element> elements;

 private:
  static double along(std::pair<double, double> a, std::pair<double, double> b, double pixel) {
    return a.first + (pixel - a.second) / (b.second - a.second) * (b.first - a.first);
  }
};

TrainingCurve usual_curve() {
  TrainingCurve curve;
  curve.title = "A < B & \"C\" > 'D'";
  for (std::uint64_t update = 10; update <= 1236; update += 10) {
    curve.train.push_back({update, 3.5 + 5.5 * std::exp(-static_cast<double>(update) / 300)});
  }
  curve.validations = {{300, 6.1, 1.5, 15}, {600, 4.9, 6.5, 27.5}, {1200, 3.75, 18, 40.25}};
  curve.best_update = 600;
  return curve;
}

TEST_CASE("curve: every point lies where the axes say") {
  const TrainingCurve curve = usual_curve();
  const Drawn drawn(curve);
  const auto train = drawn.line("train", 0);
  REQUIRE(train.size() == curve.train.size());
  for (std::size_t i = 0; i < train.size(); ++i) {
    CHECK(train[i].first ==
          doctest::Approx(static_cast<double>(curve.train[i].update)).epsilon(0.005));
    CHECK(train[i].second == doctest::Approx(curve.train[i].loss).epsilon(0.001));
  }
  const auto valid = drawn.line("valid", 0);
  const auto bleu = drawn.line("bleu", 1);
  const auto chrf = drawn.line("chrf", 1);
  REQUIRE(valid.size() == 3);
  REQUIRE(bleu.size() == 3);
  REQUIRE(chrf.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& validation = curve.validations[i];
    const double update = static_cast<double>(validation.update);
    for (const auto& point : {valid[i], bleu[i], chrf[i]}) {
      CHECK(point.first == doctest::Approx(update).epsilon(0.001));
    }
    CHECK(valid[i].second == doctest::Approx(validation.loss).epsilon(0.002));
    CHECK(std::abs(bleu[i].second - validation.bleu) < 0.01);
    CHECK(std::abs(chrf[i].second - validation.chrf) < 0.01);
  }
  std::size_t dots = 0;
  for (const Element& element : drawn.elements) {
    if (element.name != "circle" || element.attributes.contains("class")) continue;
    ++dots;
    CHECK(std::abs(drawn.update_at(element.number("cx")) -
                   300 * (dots % 3 == 0 ? 4 : static_cast<double>(dots % 3))) < 0.1);
  }
  CHECK(dots == 9);
}

TEST_CASE("curve: ticks are round, evenly spaced and hold the data") {
  const Drawn drawn(usual_curve());
  CHECK(drawn.texts().find("1,200\n") != std::string::npos);
  std::string losses;
  for (const auto& tick : drawn.value_ticks(0)) losses += std::to_string(tick.first).substr(0, 2);
  CHECK(losses == "3.4.5.6.7.8.9.");
  const auto scores = drawn.value_ticks(1);
  REQUIRE(scores.size() == 6);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    CHECK(scores[i].first == 10.0 * static_cast<double>(i));
    CHECK(scores[i].second == doctest::Approx(462 - 28.0 * static_cast<double>(i)));
  }
}

TEST_CASE("curve: scores begin at 0 and end at 100, losses where they are") {
  TrainingCurve curve;
  curve.validations = {{1, 7, 97, 98}, {2, 7.5, 98, 99.5}};
  const Drawn drawn(curve);
  CHECK(drawn.value_ticks(1).front().first == 0);
  CHECK(drawn.value_ticks(1).back().first == 100);
  CHECK(drawn.value_ticks(0).front().first > 6);
}

TEST_CASE("curve: the kept model is marked in both plots and named") {
  const Drawn drawn(usual_curve());
  const auto marks = drawn.of_class("line", "best");
  REQUIRE(marks.size() == 2);
  for (const Element& mark : marks) {
    CHECK(mark.number("x1") == mark.number("x2"));
    CHECK(drawn.update_at(mark.number("x1")) == doctest::Approx(600).epsilon(0.001));
  }
  CHECK(drawn.texts().find("best model: update 600, BLEU 6.5\n") != std::string::npos);
  TrainingCurve curve = usual_curve();
  curve.best_update.reset();
  CHECK(Drawn(curve).of_class("line", "best").empty());
  curve.best_update = 9000;  // after all points, without a validation
  CHECK(Drawn(curve).texts().find("best model: update 9,000\n") != std::string::npos);
  // Sums in floating point make a perfect score slightly more than 100.
  curve.validations.back().bleu = 100.00000000000004;
  curve.best_update = curve.validations.back().update;
  CHECK(Drawn(curve).texts().find(", BLEU 100.0\n") != std::string::npos);
}

TEST_CASE("curve: axes, units and lines are named") {
  const std::string texts = Drawn(usual_curve()).texts();
  for (const char* text : {"loss (nats per target token)", "BLEU, chrF2 (0 to 100)", "updates",
                           "training loss", "validation loss", "BLEU", "chrF2"}) {
    CAPTURE(text);
    CHECK(texts.find(std::string(text) + "\n") != std::string::npos);
  }
}

TEST_CASE("curve: a title from outside is text, whatever it holds") {
  TrainingCurve curve = usual_curve();
  CHECK(Drawn(curve).texts().find("A < B & \"C\" > 'D'\n") != std::string::npos);
  CHECK(Drawn(curve).svg.find("A &lt; B &amp; &quot;C&quot; &gt; 'D'") != std::string::npos);
  curve.title = "</text><script>alert(1)</script>]]>&#0;\xff\x01\x1b\xef\xbf\xbf\xef\xbf\xbf\n";
  const Drawn drawn(curve);  // parse_xml refuses control characters and malformed XML
  CHECK(drawn.svg.find("<script") == std::string::npos);
  CHECK(drawn.svg.find("\xef\xbf\xbf") == std::string::npos);
  CHECK(drawn.texts().find("</text><script>alert(1)</script>") != std::string::npos);
  curve.title = std::string(1000, 'x');
  CHECK(Drawn(curve).texts().find(std::string(63, 'x') + "…\n") != std::string::npos);
  curve.title = "";
  CHECK(Drawn(curve).texts().find("Training curve\n") != std::string::npos);
}

TEST_CASE("curve: without points") {
  const Drawn drawn(TrainingCurve{});
  CHECK(drawn.texts().find("nothing measured yet\n") != std::string::npos);
  CHECK(drawn.of_class("text", "note").size() == 2);
  for (const Element& element : drawn.elements) CHECK(element.name != "polyline");
}

TEST_CASE("curve: one point is a dot, two are a line") {
  TrainingCurve curve;
  curve.train = {{50, 8.5}};
  CHECK(Drawn(curve).of_class("g", "dots train").size() == 1);
  CHECK(Drawn(curve).of_class("polyline", "line train").empty());
  CHECK(Drawn(curve).of_class("text", "note").size() == 1);  // no scores yet
  curve.train.push_back({100, 8.0});
  const Drawn drawn(curve);
  CHECK(drawn.of_class("g", "dots train").empty());
  const auto line = drawn.line("train", 0);
  REQUIRE(line.size() == 2);
  CHECK(line[1].second == doctest::Approx(8.0).epsilon(0.001));
}

TEST_CASE("curve: values that are not finite are left out") {
  TrainingCurve curve = usual_curve();
  const double infinity = std::numeric_limits<double>::infinity();
  curve.train = {{1, kNaN}, {2, 5}, {3, infinity}, {4, 4}, {5, -infinity}, {6, 1e305}};
  curve.validations[1] = {600, kNaN, infinity, kNaN};
  const Drawn drawn(curve);
  CHECK(drawn.line("train", 0).size() == 2);
  CHECK(drawn.line("valid", 0).size() == 2);
  CHECK(drawn.line("chrf", 1).size() == 2);
  CHECK(drawn.texts().find("best model: update 600\n") != std::string::npos);
}

TEST_CASE("curve: constant, tiny, huge and zero values") {
  for (const double value : {0.0, 3.5, -2.0, 1e-300, 1e-7, 0.009, 99999.0, 1e5, 1e15, 1e300}) {
    CAPTURE(value);
    TrainingCurve curve;
    curve.train = {{1, value}, {2, value}};
    curve.validations = {{2, value, 0, 0}};
    const Drawn drawn(curve);
    const auto ticks = drawn.value_ticks(0);
    CHECK(ticks.size() <= 12);
    for (std::size_t i = 1; i < ticks.size(); ++i) CHECK(ticks[i].first > ticks[i - 1].first);
    const auto line = drawn.line("train", 0);
    REQUIRE(line.size() == 2);
    CHECK(std::abs(line[0].second - value) <= 1e-6 + 0.002 * std::abs(value));
    CHECK(drawn.value_ticks(1).back().first == 1);
  }
  TrainingCurve wide;
  wide.train = {{1, -1e300}, {2, 1e300}, {std::numeric_limits<std::uint64_t>::max(), 0}};
  CHECK(Drawn(wide).of_class("polyline", "line train").size() == 1);
}

TEST_CASE("curve: many points are thinned to means, many dots to a line") {
  TrainingCurve curve;
  for (std::uint64_t update = 1; update <= 100000; ++update) {
    curve.train.push_back({update, update % 2 == 0 ? 4.0 : 6.0});
    curve.validations.push_back({update, 5, 20, 40});
  }
  const Drawn drawn(curve);
  const auto train = drawn.line("train", 0);
  CHECK(train.size() == 1000);
  for (const auto& point : train) CHECK(point.second == doctest::Approx(5.0).epsilon(0.001));
  CHECK(std::abs(train[0].first - 50.5) < 2);
  CHECK(drawn.of_class("g", "dots bleu").empty());
  CHECK(drawn.line("bleu", 1).size() == 1000);
  curve.train.resize(1001);
  CHECK(Drawn(curve).line("train", 0).size() == 501);
}

}  // namespace
}  // namespace attn
