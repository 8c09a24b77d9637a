#include "view/terminal/styled_text.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "view/color.h"

namespace attn {
namespace {

// For dark terminals, from slate over blue, teal and green to yellow. Lightness only increases, so
// the order survives in gray and for color-blind readers. Light terminals use the pictures'
// colors, whose lightness only decreases.
constexpr std::array<Rgb, 5> ramp = {
    {{43, 46, 66}, {50, 84, 140}, {38, 140, 141}, {126, 199, 98}, {250, 226, 80}}};

// For negative numbers, over dark red and orange to cream; light terminals use the pictures'
// colors.
constexpr std::array<Rgb, 5> negative_ramp = {
    {{43, 46, 66}, {120, 44, 60}, {186, 74, 52}, {236, 142, 84}, {255, 216, 180}}};

// The same ramps in the fixed part of the 256-color palette (16 to 255), which themes do not
// change.
constexpr std::array<int, 10> palette = {236, 238, 24, 30, 36, 71, 113, 149, 185, 221};
constexpr std::array<int, 10> light_palette = {255, 254, 152, 110, 74, 32, 25, 24, 18, 17};
constexpr std::array<int, 10> negative_palette = {236, 238, 52, 88, 124, 130, 166, 172, 215, 223};
constexpr std::array<int, 10> light_negative_palette = {255, 254, 223, 216, 209,
                                                        166, 130, 124, 88,  52};

bool is_negative(float weight) {
  return weight < 0 && std::isfinite(weight);
}

bool in_256(ColorMode mode) {
  return mode == ColorMode::shades_256 || mode == ColorMode::light_shades_256;
}

Rgb palette_color(int index) {
  if (index >= 232) return {8 + 10 * (index - 232), 8 + 10 * (index - 232), 8 + 10 * (index - 232)};
  const auto level = [](int step) { return step == 0 ? 0 : 55 + 40 * step; };
  const int cube = index - 16;
  return {level(cube / 36), level(cube / 6 % 6), level(cube % 6)};
}

int palette_index(float weight, ColorMode mode) {
  const bool light = mode == ColorMode::light_shades_256;
  const auto& shades = is_negative(weight) ? (light ? light_negative_palette : negative_palette)
                                           : (light ? light_palette : palette);
  return shades[to_size(std::lround(scale_position(is_negative(weight) ? -weight : weight) *
                                    static_cast<float>(shades.size() - 1)))];
}

Rgb color_of(float weight, ColorMode mode) {
  if (is_negative(weight)) {
    return mode == ColorMode::light_true_color ? light_negative_color(color_level(-weight))
                                               : ramp_color(negative_ramp, scale_position(-weight));
  }
  return mode == ColorMode::light_true_color ? light_color(color_level(weight))
                                             : ramp_color(ramp, scale_position(weight));
}

constexpr std::string_view first_strong_isolate = "\u2068";
constexpr std::string_view pop_isolate = "\u2069";
constexpr std::string_view continuation = "‿";

bool is_right_to_left(char32_t c) {
  const UCharDirection direction = u_charDirection(static_cast<UChar32>(c));
  return direction == U_RIGHT_TO_LEFT || direction == U_RIGHT_TO_LEFT_ARABIC;
}

/// Puts isolates (UAX 9) around the part of a text that runs from right to left, so that a terminal
/// that reorders such text does not move the numbers beside it. A continuation mark before it is
/// part of it and so appears at its right end.
std::string with_isolated_rtl(std::string_view text) {
  std::size_t first = text.size(), end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_code_point(text.substr(at));
    if (is_right_to_left(c.value)) {
      first = std::min(first, at);
      end = at + c.length;
    }
    at += c.length;
  }
  if (end == 0) return std::string(text);
  if (text.substr(0, first).ends_with(continuation)) first -= continuation.size();
  std::string out(text.substr(0, first));
  out += first_strong_isolate;
  out += text.substr(first, end - first);
  out += pop_isolate;
  out += text.substr(end);
  return out;
}

}  // namespace

std::string shade_escape(float weight, ColorMode mode) {
  if (mode == ColorMode::none) return {};
  if (in_256(mode)) {
    const int index = palette_index(weight, mode);
    return fmt::format("\x1b[38;5;{};48;5;{}m", wants_black_text(palette_color(index)) ? 16 : 231,
                       index);
  }
  const Rgb color = color_of(weight, mode);
  const int text = wants_black_text(color) ? 0 : 255;
  return fmt::format("\x1b[38;2;{};{};{};48;2;{};{};{}m", text, text, text, color.red, color.green,
                     color.blue);
}

std::string text_escape(float weight, ColorMode mode) {
  if (mode == ColorMode::none) return {};
  if (in_256(mode)) return fmt::format("\x1b[38;5;{}m", palette_index(weight, mode));
  const Rgb color = color_of(weight, mode);
  return fmt::format("\x1b[38;2;{};{};{}m", color.red, color.green, color.blue);
}

std::string_view shade_character(float weight) {
  const float position = scale_position(is_negative(weight) ? -weight : weight);
  if (position < 0.2f) return " ";
  if (position < 0.45f) return "░";
  if (position < 0.65f) return "▒";
  return position < 0.85f ? "▓" : "█";
}

void TextLine::add(std::string_view printable_text) {
  text += with_isolated_rtl(printable_text);
  columns += display_width(printable_text);
}

void TextLine::add(const TextLine& line) {
  text += line.text;
  columns += line.columns;
}

void TextLine::pad_to(int target) {
  if (columns >= target) return;
  text.append(to_size(target - columns), ' ');
  columns = target;
}

std::string TextLine::trimmed() const {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string wrap_words(std::string_view text, int columns, int indent) {
  std::string out;
  int used = 0;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    const int word_columns = display_width(word);
    if (used > 0) {
      const bool fits = used + 1 + word_columns <= columns;
      out += fits ? " " : "\n" + std::string(to_size(indent), ' ');
      used = fits ? used + 1 : 0;
    }
    out += word;
    used += word_columns;
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return out + '\n';
}

std::string fit_to_width(const std::vector<StatusPart>& parts, int columns) {
  int most = 0;
  for (const StatusPart& part : parts) most = std::max(most, part.rank);
  std::string line;
  for (; most >= 0; --most) {
    line.clear();
    for (const StatusPart& part : parts) {
      if (part.rank > most) continue;
      if (!line.empty()) line += " · ";
      line += part.text;
    }
    if (display_width(line) <= columns) return line;
  }
  return truncate_to_width(line, columns);
}

std::string format_duration(double seconds) {
  const auto s = static_cast<long>(seconds);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

}  // namespace attn
