#include "view/terminal/map/map_cells.h"

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "view/terminal/styled_text.h"

namespace attn {
namespace {

constexpr float trace_tenths = 0.1f;  // smaller weights have no digit
constexpr float trace_hundredths = 0.05f;
constexpr int hundredths_cell = 3;
constexpr float half_full = 0.2f;  // without colors, a half is full from this weight on
constexpr int sample_columns = 6;
constexpr int half_sample_columns = 5;
constexpr int narrow_scale = 60;
constexpr std::string_view end_paint = "\x1b[0m";

/// Returns two decimals, always equally wide for weights, or one decimal if a number is too wide
/// for its cell. A negative number has its sign in place of the leading zero.
std::string number_text(float weight, int columns) {
  if (!std::isfinite(weight)) return truncate_to_width(fmt::format("{:.2f}", weight), columns);
  if (std::abs(weight) < 0.005f) weight = 0.0f;  // −0 is 0
  const float size = std::abs(weight);
  std::string text = fmt::format("{:.2f}", size);
  if (weight < 0) text = "−" + (size < 0.995f ? text.substr(1) : text);
  if (display_width(text) <= columns) return text;
  return truncate_to_width(fmt::format("{}{:.1f}", weight < 0 ? "−" : "", size), columns);
}

/// Right-aligns `text` in `columns` columns.
std::string at_right(const std::string& text, int columns) {
  return std::string(to_size(std::max(0, columns - display_width(text))), ' ') + text;
}

/// Returns the weight's digits for a shade: hundredths where there is room for a space before them.
std::string digits(float weight, int columns) {
  weight = std::abs(weight);
  if (columns < hundredths_cell) {
    if (!(weight >= trace_tenths)) return "";
    return fmt::format("{}", std::min(9, static_cast<int>(weight * 10)));
  }
  if (!(weight >= trace_hundredths)) return "";
  const long hundredths = std::lround(weight * 100);
  return hundredths >= 100 ? "1." : fmt::format("{}", hundredths);
}

std::string_view half_character(bool upper, bool lower) {
  if (upper) return lower ? "█" : "▀";
  return lower ? "▄" : " ";
}

/// Returns 0 for weights below a trace, so that the others stand out.
float without_trace(float weight) {
  return std::abs(weight) >= trace_hundredths ? weight : 0.0f;
}

void add_painted(TextLine& line, const Cell& cell) {
  line.add_escape(cell.paint);
  line.add(cell.text);
  if (!cell.paint.empty()) line.add_escape(end_paint);
}

/// Adds the text if the line has room for it.
void add_if_fits(TextLine& line, std::string_view text, int width) {
  if (line.columns + display_width(text) <= width) line.add(text);
}

TextLine plain_scale(CellStyle form, int width) {
  TextLine line;
  if (form == CellStyle::half_blocks) {
    line.add("▀ upper row, ▄ lower, █ both");
    add_if_fits(line, fmt::format(": from {:.2f}", half_full), width);
  } else {
    line.add("░ from 0.04 ▒ 0.20 ▓ 0.42 █ 0.72");
  }
  add_if_fits(line, ".", width);
  return line;
}

TextLine painted_scale(CellStyle form, int cell, ColorMode color, int width) {
  TextLine line;
  line.add("Scale ");
  const bool numbers = form != CellStyle::shades;
  const int sample = form == CellStyle::half_blocks ? half_sample_columns : sample_columns;
  for (const float weight : {0.0f, 0.05f, 0.2f, 0.4f, 0.6f, 0.8f, 1.0f}) {
    // A narrow window shows every second one.
    const bool in_between = weight == 0.05f || weight == 0.4f || weight == 0.8f;
    if (in_between && width < narrow_scale) continue;
    if (!numbers && weight > 0) line.add(" ");
    add_painted(line,
                numbers ? number_cell(weight, sample, color) : shade_cell(weight, cell, color));
  }
  if (form == CellStyle::shades) {
    const std::string_view whole =
        cell < hundredths_cell ? " in tenths." : " in hundredths; 1. is 1.00.";
    const bool fits = line.columns + display_width(whole) <= width;
    add_if_fits(line, fits ? whole : whole.substr(0, whole.find(';')), width);
  }
  if (form == CellStyle::half_blocks) add_if_fits(line, " Two rows a line.", width);
  return line;
}

}  // namespace

Cell number_cell(std::optional<float> weight, int columns, ColorMode color) {
  if (!weight) return {at_right("·   ", columns), ""};  // the dot is below the decimal points
  const bool plain = color == ColorMode::none;
  const std::string number = at_right(number_text(*weight, columns - 1), columns - 1);
  return {number + std::string(plain ? shade_character(*weight) : " "),
          shade_escape(*weight, color)};
}

Cell shade_cell(std::optional<float> weight, int columns, ColorMode color) {
  if (!weight) return {at_right("·", columns), ""};
  if (std::isnan(*weight)) return {at_right("?", columns), shade_escape(0, color)};
  if (color != ColorMode::none) {
    return {at_right(digits(*weight, columns), columns), shade_escape(*weight, color)};
  }
  Cell cell;
  const std::string_view shade = shade_character(*weight);
  for (int i = 0; i < columns; ++i) {
    cell.text += *weight < 0 && i == 0 && shade != " " ? "−" : shade;
  }
  return cell;
}

Cell half_cell(std::optional<float> upper, std::optional<float> lower, ColorMode color) {
  if (color == ColorMode::none) {
    const auto full = [](std::optional<float> weight) {
      return weight && std::abs(*weight) >= half_full;
    };
    return {std::string(half_character(full(upper), full(lower))), ""};
  }
  if (upper) upper = without_trace(*upper);
  if (lower) lower = without_trace(*lower);
  if (!upper && !lower) return {" ", ""};
  if (!lower) lower = 0.0f;  // below the last row, the half looks like a weight of 0
  if (!upper) return {"▄", text_escape(*lower, color)};
  if (*upper == *lower) return {" ", shade_escape(*upper, color)};
  // The fuller half is the character, so that a copy without colors shows it, too.
  if (*upper > *lower) return {"▀", shade_escape(*lower, color) + text_escape(*upper, color)};
  return {"▄", shade_escape(*upper, color) + text_escape(*lower, color)};
}

Cell left_out_cell(CellStyle form, int columns) {
  return {at_right(form == CellStyle::numbers ? "-   " : "-", columns), ""};
}

TextLine shade_legend_line(const ShadeLegend& scale, ColorMode color, int width) {
  TextLine line = color == ColorMode::none
                      ? plain_scale(scale.form, width)
                      : painted_scale(scale.form, scale.cell_width, color, width);
  if (scale.rows_sum_to_1) add_if_fits(line, " A row sums to 1.", width);
  return line;
}

}  // namespace attn
