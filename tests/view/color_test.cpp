#include "view/color.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

namespace attn {
namespace {

float contrast(const Rgb& a, const Rgb& b) {
  const float x = luminance(a) + 0.05f;
  const float y = luminance(b) + 0.05f;
  return std::max(x, y) / std::min(x, y);
}

TEST_CASE("color scale: the square root, held to 0 … 1") {
  CHECK(color_level(0) == 0);
  CHECK(color_level(1) == 100);
  CHECK(color_level(0.25f) == 50);
  CHECK(color_level(0.01f) == 10);
  CHECK(color_level(-1) == 0);
  CHECK(color_level(2) == 100);
  CHECK(color_level(std::numeric_limits<float>::infinity()) == 100);
  CHECK(color_level(std::numeric_limits<float>::quiet_NaN()) == 0);
}

TEST_CASE("color scale: lightness only falls in light viewers and only grows in dark ones") {
  for (int level = 1; level < color_levels; ++level) {
    CAPTURE(level);
    CHECK(luminance(light_color(level)) < luminance(light_color(level - 1)));
    CHECK(luminance(dark_color(level)) > luminance(dark_color(level - 1)));
  }
  // Negative numbers get the same brightness as positive ones of the same level.
  for (int level = 1; level < color_levels; ++level) {
    CAPTURE(level);
    CHECK(luminance(light_negative_color(level)) < luminance(light_negative_color(level - 1)));
    CHECK(luminance(dark_negative_color(level)) > luminance(dark_negative_color(level - 1)));
    CHECK(light_negative_color(level) != light_color(level));
    CHECK(contrast(light_negative_color(level), light_color(level)) < 1.1f);
    CHECK(contrast(dark_negative_color(level), dark_color(level)) < 1.1f);
  }
  // The whole range of grays is used.
  CHECK(contrast(light_color(0), light_color(100)) > 13);
  CHECK(contrast(dark_color(0), dark_color(100)) > 13);
}

TEST_CASE("color scale: numbers can be read on every level, light and dark") {
  constexpr Rgb black{0, 0, 0};
  constexpr Rgb white{255, 255, 255};
  for (int level = 0; level < color_levels; ++level) {
    CAPTURE(level);
    const bool strong = level >= inverted_text_level;
    CHECK(contrast(light_color(level), strong ? white : black) >= 4.5f);
    CHECK(contrast(dark_color(level), strong ? black : white) >= 4.5f);
    CHECK(contrast(light_negative_color(level), strong ? white : black) >= 4.5f);
    CHECK(contrast(dark_negative_color(level), strong ? black : white) >= 4.5f);
  }
}

}  // namespace
}  // namespace attn
