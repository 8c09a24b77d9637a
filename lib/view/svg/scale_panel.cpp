#include <algorithm>
#include <array>
#include <cmath>

#include "view/color.h"
#include "view/svg/map_panels.h"
#include "view/svg/text_width.h"
#include "view/svg/xml_text.h"

namespace attn {
namespace {

constexpr double bar_left = 48;  // after the word "weight"
constexpr int bar_step = 2;      // levels of the scale a rectangle of the bar
constexpr double level_width = 2.4;
constexpr double bar_height = 12;
constexpr double sample = 14;      // pixels, the side of a sample cell
constexpr double sample_gap = 22;  // pixels between two samples
constexpr double text_size = 12;
constexpr std::array<float, 6> ticks = {0.0f, 0.01f, 0.1f, 0.25f, 0.5f, 1.0f};

bool has_odd(const AttentionMaps& maps) {
  return std::any_of(maps.weights.begin(), maps.weights.end(),
                     [](float weight) { return !std::isfinite(weight); });
}

double level_x(double level) {
  return bar_left + level * level_width;
}

/// Returns where the bar ends.
double append_bar(std::string& out) {
  out += "<text class=\"quiet\" x=\"0\" y=\"11\">weight</text>\n<g class=\"bar\">\n";
  const double width = bar_step * level_width;
  for (int level = 0; level < color_levels; level += bar_step) {
    // Each colour lies around its own level.
    const double first = std::max(level_x(0), level_x(level) - width / 2);
    const double last = std::min(level_x(color_levels - 1), level_x(level) + width / 2);
    append_format(out,
                  "<rect class=\"s{}\" x=\"{:.1f}\" y=\"1\" width=\"{:.1f}\" height=\"{}\"/>\n",
                  level, first, last - first, bar_height);
  }
  out += "</g>\n";
  const double end = level_x(color_levels - 1);
  append_format(out, "<rect class=\"frame\" x=\"{}\" y=\"0.5\" width=\"{}\" height=\"{}\"/>\n",
                bar_left - 0.5, end - bar_left + 1, bar_height + 1);
  for (const float weight : ticks) {
    const double x = level_x(scale_position(weight) * static_cast<float>(color_levels - 1));
    append_format(out,
                  "<line class=\"tick-line\" x1=\"{0:.1f}\" y1=\"14\" x2=\"{0:.1f}\" y2=\"18\"/>\n"
                  "<text class=\"quiet label-10 middle\" x=\"{0:.1f}\" y=\"29\">{1}</text>\n",
                  x, weight);
  }
  return end;
}

}  // namespace

Panel scale_panel(const MapSubject& subject) {
  Panel panel;
  double x = append_bar(panel.svg) + sample_gap + 6;
  const auto add = [&](std::string_view mark, std::string_view text) {
    panel.svg += mark.empty() ? ""
                              : fmt::format(
                                    "<rect class=\"{0}\" x=\"{1:.1f}\" y=\"0.5\" "
                                    "width=\"{2}\" height=\"{2}\"/>\n",
                                    mark, x, sample);
    const double text_x = mark.empty() ? x : x + sample + 6;
    append_format(panel.svg, "<text class=\"quiet\" x=\"{:.1f}\" y=\"11.5\">{}</text>\n", text_x,
                  text);
    x = text_x + std::ceil(text_width(text, text_size)) + sample_gap;
  };
  if (subject.axes.causal) add("masked", "masked");
  if (has_odd(subject.maps)) add("odd", "not a number");
  if (subject.axes.has_continuations()) add("", "‿ goes on with the word before it");
  panel.width = x - sample_gap;
  panel.height = 32;
  return panel;
}

}  // namespace attn
