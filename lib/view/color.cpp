#include "view/color.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/at.h"

namespace attn {
namespace {

// From the page's white over ice and azure to navy, and from a dark page over navy and azure to
// ice. The stops are evenly spaced in CIE lightness, except near `inverted_text_level`, where both
// colors have the same contrast with black and with white.
constexpr std::array<Rgb, 9> light_ramp = {{{243, 247, 250},
                                            {209, 230, 241},
                                            {161, 208, 231},
                                            {107, 183, 220},
                                            {54, 152, 208},
                                            {25, 118, 188},
                                            {9, 87, 162},
                                            {15, 59, 126},
                                            {25, 33, 82}}};
constexpr std::array<Rgb, 9> dark_ramp = {{{23, 28, 35},
                                           {29, 43, 62},
                                           {29, 61, 95},
                                           {11, 81, 131},
                                           {0, 101, 153},
                                           {0, 128, 176},
                                           {32, 170, 216},
                                           {120, 214, 240},
                                           {220, 249, 250}}};
// Orange and brown, with the same lightness at every stop as the ramps above.
constexpr std::array<Rgb, 9> light_negative_ramp = {{{243, 247, 250},
                                                     {255, 220, 200},
                                                     {254, 186, 150},
                                                     {254, 145, 93},
                                                     {232, 107, 51},
                                                     {195, 75, 29},
                                                     {156, 51, 20},
                                                     {114, 34, 18},
                                                     {71, 21, 15}}};
constexpr std::array<Rgb, 9> dark_negative_ramp = {{{23, 28, 35},
                                                    {68, 32, 24},
                                                    {114, 28, 0},
                                                    {140, 47, 0},
                                                    {162, 66, 3},
                                                    {194, 89, 5},
                                                    {231, 133, 65},
                                                    {254, 187, 139},
                                                    {253, 241, 233}}};

float position_of(int level) {
  return static_cast<float>(level) / static_cast<float>(color_levels - 1);
}

}  // namespace

float luminance(const Rgb& color) {
  const auto linear = [](int channel) {
    const float value = static_cast<float>(channel) / 255.0f;
    return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
  };
  return 0.2126f * linear(color.red) + 0.7152f * linear(color.green) + 0.0722f * linear(color.blue);
}

bool wants_black_text(const Rgb& background) {
  // The contrast is (L + 0.05) / 0.05 with black and 1.05 / (L + 0.05) with white.
  const float light = luminance(background) + 0.05f;
  return light * light > 1.05f * 0.05f;
}

Rgb ramp_color(std::span<const Rgb> stops, float position) {
  const float scaled = position * static_cast<float>(stops.size() - 1);
  const std::size_t low = std::min(static_cast<std::size_t>(scaled), stops.size() - 2);
  const float part = scaled - static_cast<float>(low);
  const auto mix = [part](int from, int to) {
    return to_int(
        std::lround(static_cast<float>(from) * (1 - part) + static_cast<float>(to) * part));
  };
  const Rgb& a = stops[low];
  const Rgb& b = stops[low + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

float scale_position(float weight) {
  if (!(weight > 0.0f)) return 0.0f;
  return weight >= 1.0f ? 1.0f : std::sqrt(weight);
}

int color_level(float weight) {
  return to_int(std::lround(scale_position(weight) * static_cast<float>(color_levels - 1)));
}

Rgb light_color(int level) {
  return ramp_color(light_ramp, position_of(level));
}

Rgb dark_color(int level) {
  return ramp_color(dark_ramp, position_of(level));
}

Rgb light_negative_color(int level) {
  return ramp_color(light_negative_ramp, position_of(level));
}

Rgb dark_negative_color(int level) {
  return ramp_color(dark_negative_ramp, position_of(level));
}

}  // namespace attn
