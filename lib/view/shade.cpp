#include "view/shade.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace attn {
namespace {

struct Rgb {
  int red = 0;
  int green = 0;
  int blue = 0;
};

// From slate over blue, teal and green to yellow: lightness only grows, so the order survives in
// grey and for colour-blind readers.
constexpr std::array<Rgb, 5> ramp = {
    {{43, 46, 66}, {50, 84, 140}, {38, 140, 141}, {126, 199, 98}, {250, 226, 80}}};

// The same ramp in the fixed part of the 256-colour palette (16 to 255), which themes leave alone.
constexpr std::array<int, 10> palette = {236, 238, 24, 30, 36, 71, 113, 149, 185, 221};

/// A place on the ramp, 0 … 1. The square root spreads the small weights of long sentences, and the
/// scale is the same in all maps so that they can be compared.
float ramp_position(float weight) {
  if (!(weight > 0.0f)) return 0.0f;
  return weight >= 1.0f ? 1.0f : std::sqrt(weight);
}

Rgb ramp_color(float position) {
  const float scaled = position * static_cast<float>(ramp.size() - 1);
  const std::size_t low = std::min(static_cast<std::size_t>(scaled), ramp.size() - 2);
  const float part = scaled - static_cast<float>(low);
  const auto mix = [part](int from, int to) {
    return static_cast<int>(
        std::lround(static_cast<float>(from) * (1 - part) + static_cast<float>(to) * part));
  };
  const Rgb& a = ramp[low];
  const Rgb& b = ramp[low + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

Rgb palette_color(int index) {
  if (index >= 232) return {8 + 10 * (index - 232), 8 + 10 * (index - 232), 8 + 10 * (index - 232)};
  const auto level = [](int step) { return step == 0 ? 0 : 55 + 40 * step; };
  const int cube = index - 16;
  return {level(cube / 36), level(cube / 6 % 6), level(cube % 6)};
}

/// WCAG 2's relative luminance of an sRGB colour, 0 … 1.
float luminance(const Rgb& color) {
  const auto linear = [](int channel) {
    const float value = static_cast<float>(channel) / 255.0f;
    return value <= 0.04045f ? value / 12.92f : std::pow((value + 0.055f) / 1.055f, 2.4f);
  };
  return 0.2126f * linear(color.red) + 0.7152f * linear(color.green) + 0.0722f * linear(color.blue);
}

/// Black stands out more than white where (L + 0.05)² > 1.05 · 0.05, by WCAG's contrast ratio.
bool wants_black_text(const Rgb& background) {
  const float light = luminance(background) + 0.05f;
  return light * light > 1.05f * 0.05f;
}

}  // namespace

std::string shade_escape(float weight, ColorMode mode) {
  const float position = ramp_position(weight);
  if (mode == ColorMode::true_color) {
    const Rgb color = ramp_color(position);
    const int text = wants_black_text(color) ? 0 : 255;
    return fmt::format("\x1b[38;2;{};{};{};48;2;{};{};{}m", text, text, text, color.red,
                       color.green, color.blue);
  }
  if (mode == ColorMode::shades_256) {
    const auto place =
        static_cast<std::size_t>(std::lround(position * static_cast<float>(palette.size() - 1)));
    const int index = palette[place];
    return fmt::format("\x1b[38;5;{};48;5;{}m", wants_black_text(palette_color(index)) ? 16 : 231,
                       index);
  }
  return {};
}

std::string_view shade_character(float weight) {
  const float position = ramp_position(weight);
  if (position < 0.2f) return " ";
  if (position < 0.45f) return "░";
  if (position < 0.65f) return "▒";
  return position < 0.85f ? "▓" : "█";
}

}  // namespace attn
