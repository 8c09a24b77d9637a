#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <regex>

#include "view/terminal/styled_text.h"

namespace attn {
namespace {

using Color = std::array<int, 3>;

Color of_palette(int index) {
  REQUIRE(index >= 16);  // the first 16 colors belong to the user's theme
  if (index >= 232) return {8 + 10 * (index - 232), 8 + 10 * (index - 232), 8 + 10 * (index - 232)};
  const int levels[] = {0, 95, 135, 175, 215, 255};
  return {levels[(index - 16) / 36], levels[(index - 16) / 6 % 6], levels[(index - 16) % 6]};
}

double luminance(const Color& color) {
  double sum = 0;
  const double share[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    const double value = color[i] / 255.0;
    sum += share[i] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return sum;
}

struct Painted {
  Color text;
  Color background;
};

Painted parse(const std::string& escape, ColorMode mode) {
  std::smatch match;
  if (mode == ColorMode::shades_256 || mode == ColorMode::light_shades_256) {
    const std::regex form("\x1b\\[38;5;(\\d+);48;5;(\\d+)m");
    REQUIRE(std::regex_match(escape, match, form));
    return {of_palette(std::stoi(match[1])), of_palette(std::stoi(match[2]))};
  }
  const std::regex form("\x1b\\[38;2;(\\d+);(\\d+);(\\d+);48;2;(\\d+);(\\d+);(\\d+)m");
  REQUIRE(std::regex_match(escape, match, form));
  const auto number = [&](std::size_t i) { return std::stoi(match[i]); };
  return {{number(1), number(2), number(3)}, {number(4), number(5), number(6)}};
}

TEST_CASE("shade: both colours are painted, readable, and lighter as the weight grows") {
  for (const ColorMode mode : {ColorMode::shades_256, ColorMode::true_color}) {
    double before = -1;
    for (int percent = 0; percent <= 100; ++percent) {
      const Painted cell = parse(shade_escape(static_cast<float>(percent) / 100.0f, mode), mode);
      const double text = luminance(cell.text) + 0.05;
      const double background = luminance(cell.background) + 0.05;
      CHECK_MESSAGE(std::max(text, background) / std::min(text, background) >= 4.5, percent);
      CHECK_MESSAGE(background >= before, percent);
      before = background;
    }
    CHECK(shade_escape(0.0f, mode) != shade_escape(0.02f, mode));
    CHECK(shade_escape(0.8f, mode) != shade_escape(1.0f, mode));
  }
}

TEST_CASE("shade: on light terminals it gets darker as the weight grows") {
  CHECK(for_light_background(ColorMode::none) == ColorMode::none);
  for (const ColorMode dark : {ColorMode::shades_256, ColorMode::true_color}) {
    const ColorMode mode = for_light_background(dark);
    double before = 2;
    for (int percent = 0; percent <= 100; ++percent) {
      const Painted cell = parse(shade_escape(static_cast<float>(percent) / 100.0f, mode), mode);
      const double text = luminance(cell.text) + 0.05;
      const double background = luminance(cell.background) + 0.05;
      CHECK_MESSAGE(std::max(text, background) / std::min(text, background) >= 4.5, percent);
      CHECK_MESSAGE(background <= before, percent);
      before = background;
    }
    CHECK(luminance(parse(shade_escape(0.0f, mode), mode).background) > 0.8);
    CHECK(shade_escape(0.0f, mode) != shade_escape(0.02f, mode));
    CHECK(shade_escape(0.8f, mode) != shade_escape(1.0f, mode));
    CHECK(text_escape(0.8f, mode) != text_escape(0.8f, dark));
  }
}

TEST_CASE("shade: weights out of range and NaN get an end of the ramp") {
  for (const ColorMode mode : {ColorMode::shades_256, ColorMode::true_color}) {
    CHECK(shade_escape(-std::numeric_limits<float>::infinity(), mode) == shade_escape(0.0f, mode));
    CHECK(shade_escape(7.0f, mode) == shade_escape(1.0f, mode));
    CHECK(shade_escape(std::numeric_limits<float>::quiet_NaN(), mode) == shade_escape(0.0f, mode));
  }
}

TEST_CASE("shade: what is negative has colours of its own, by its size") {
  for (const ColorMode mode : {ColorMode::shades_256, ColorMode::true_color,
                               ColorMode::light_shades_256, ColorMode::light_true_color}) {
    for (const float size : {0.1f, 0.4f, 0.8f, 1.0f}) {
      CHECK(shade_escape(-size, mode) != shade_escape(size, mode));
      const auto cell = parse(shade_escape(-size, mode), mode);
      CHECK(cell.background[0] > cell.background[2]);
      const double text = luminance(cell.text) + 0.05;
      const double background = luminance(cell.background) + 0.05;
      CHECK(std::max(text, background) / std::min(text, background) >= 4.5);
    }
    CHECK(shade_escape(-3.0f, mode) == shade_escape(-1.0f, mode));
  }
}

TEST_CASE("lines: text that runs from right to left is isolated, and its width stays") {
  const auto line_of = [](std::string_view text) {
    TextLine line;
    line.add(text);
    return line;
  };
  CHECK(line_of("3 שלום").text == "3 \u2068שלום\u2069");
  CHECK(line_of("3 שלום").columns == 6);
  CHECK(line_of("‿ים").text == "\u2068‿ים\u2069");
  CHECK(line_of("قط 0.5").text == "\u2068قط\u2069 0.5");
  CHECK(line_of("Haus 0.5").text == "Haus 0.5");
  CHECK(line_of("12 猫").text == "12 猫");
}

TEST_CASE("shade: no colour, no escape") {
  CHECK(shade_escape(0.5f, ColorMode::none).empty());
}

TEST_CASE("shade: characters from empty to full") {
  CHECK(shade_character(0.0f) == " ");
  CHECK(shade_character(0.1f) == "░");
  CHECK(shade_character(0.3f) == "▒");
  CHECK(shade_character(0.5f) == "▓");
  CHECK(shade_character(0.9f) == "█");
  CHECK(shade_character(-0.5f) == "▓");
  CHECK(shade_character(std::numeric_limits<float>::quiet_NaN()) == " ");
}

}  // namespace
}  // namespace attn
