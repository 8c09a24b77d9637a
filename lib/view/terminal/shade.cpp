#include "view/terminal/shade.h"

#include <array>
#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "view/color.h"

namespace attn {
namespace {

// From slate over blue, teal and green to yellow: lightness only grows, so the order survives in
// grey and for colour-blind readers.
constexpr std::array<Rgb, 5> ramp = {
    {{43, 46, 66}, {50, 84, 140}, {38, 140, 141}, {126, 199, 98}, {250, 226, 80}}};

// The same ramp in the fixed part of the 256-colour palette (16 to 255), which themes leave alone.
constexpr std::array<int, 10> palette = {236, 238, 24, 30, 36, 71, 113, 149, 185, 221};

Rgb palette_color(int index) {
  if (index >= 232) return {8 + 10 * (index - 232), 8 + 10 * (index - 232), 8 + 10 * (index - 232)};
  const auto level = [](int step) { return step == 0 ? 0 : 55 + 40 * step; };
  const int cube = index - 16;
  return {level(cube / 36), level(cube / 6 % 6), level(cube % 6)};
}

int palette_index(float position) {
  return palette[to_size(std::lround(position * static_cast<float>(palette.size() - 1)))];
}

}  // namespace

std::string shade_escape(float weight, ColorMode mode) {
  const float position = scale_position(weight);
  if (mode == ColorMode::true_color) {
    const Rgb color = ramp_color(ramp, position);
    const int text = wants_black_text(color) ? 0 : 255;
    return fmt::format("\x1b[38;2;{};{};{};48;2;{};{};{}m", text, text, text, color.red,
                       color.green, color.blue);
  }
  if (mode == ColorMode::shades_256) {
    const int index = palette_index(position);
    return fmt::format("\x1b[38;5;{};48;5;{}m", wants_black_text(palette_color(index)) ? 16 : 231,
                       index);
  }
  return {};
}

std::string text_escape(float weight, ColorMode mode) {
  const float position = scale_position(weight);
  if (mode == ColorMode::true_color) {
    const Rgb color = ramp_color(ramp, position);
    return fmt::format("\x1b[38;2;{};{};{}m", color.red, color.green, color.blue);
  }
  if (mode == ColorMode::shades_256) return fmt::format("\x1b[38;5;{}m", palette_index(position));
  return {};
}

std::string_view shade_character(float weight) {
  const float position = scale_position(weight);
  if (position < 0.2f) return " ";
  if (position < 0.45f) return "░";
  if (position < 0.65f) return "▒";
  return position < 0.85f ? "▓" : "█";
}

}  // namespace attn
