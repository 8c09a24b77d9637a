#include <algorithm>
#include <array>
#include <cmath>

#include "base/at.h"
#include "view/color.h"
#include "view/svg/map/map_panels.h"
#include "view/svg/svg_text.h"
#include "view/svg/xml_text.h"

namespace attn {
namespace {

constexpr double bar_left = 48;  // after the word "weight"
constexpr int bar_step = 2;      // levels of the scale a rectangle of the bar
constexpr double level_width = 2.4;
constexpr double bar_height = 12;
constexpr double sample_side = 14;  // pixels, the side of a sample cell
constexpr double sample_gap = 22;   // pixels between two samples
constexpr double text_size = 12;
constexpr std::array<float, 6> ticks = {0.0f, 0.01f, 0.1f, 0.25f, 0.5f, 1.0f};

bool has_odd(const AttentionMaps& maps) {
  return std::any_of(maps.weights.begin(), maps.weights.end(),
                     [](float weight) { return !std::isfinite(weight); });
}

// Pictures without a pattern do not carry it.
constexpr std::string_view left_out_style =
    R"svg(<style>
.attn-picture .left-out{fill:url(#attn-dots)}
.attn-picture .dots-ground{fill:#ffffff}
.attn-picture .dots-dot{fill:#c6ccd3}
@media screen and (prefers-color-scheme:dark){
.attn-picture .dots-ground{fill:#0d1117}
.attn-picture .dots-dot{fill:#39424d}
}
</style>
<defs><pattern id="attn-dots" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="dots-ground" width="6" height="6"/><rect class="dots-dot" x="2" y="2" width="1.5" height="1.5"/></pattern></defs>
)svg";

// Pictures of lsh alone carry it; buckets take turns with their colours.
constexpr std::string_view hash_style = R"svg(<style>
.attn-picture .best-key{fill:none;stroke:#1a7f37;stroke-width:2}
.attn-picture .best-key.unmet{stroke:#c2500a;stroke-dasharray:3 2}
.attn-picture .bucket0{fill:#dbe7f6}
.attn-picture .bucket1{fill:#fbe3cf}
.attn-picture .bucket2{fill:#dcefd9}
.attn-picture .bucket3{fill:#ecdff3}
.attn-picture .chunk-end{stroke:#1f2328;stroke-width:2}
@media screen and (prefers-color-scheme:dark){
.attn-picture .best-key{stroke:#56d364}
.attn-picture .best-key.unmet{stroke:#f4924d}
.attn-picture .bucket0{fill:#1d3350}
.attn-picture .bucket1{fill:#4a2d16}
.attn-picture .bucket2{fill:#1e3d22}
.attn-picture .bucket3{fill:#3a2549}
.attn-picture .chunk-end{stroke:#e6edf3}
}
</style>
)svg";

/// Pictures with negative numbers carry it.
std::string negative_style() {
  std::string out = "<style>\n";
  const auto append = [&](Rgb (*color_of)(int level)) {
    for (int level = 0; level < color_levels; ++level) {
      const Rgb color = color_of(level);
      append_format(out, ".attn-picture .n{}{{fill:#{:02x}{:02x}{:02x}}}\n", level, color.red,
                    color.green, color.blue);
    }
  };
  append(light_negative_color);
  out += "@media screen and (prefers-color-scheme:dark){\n";
  append(dark_negative_color);
  return out + "}\n</style>\n";
}

/// Whether a head leaves a cell out that no mask hides.
bool leaves_out(const MapSource& source) {
  if (!source.maps.seen) return false;
  const std::vector<PatternCells>& patterns = source.maps.seen->patterns;
  const auto queries = to_size(source.maps.queries), keys = to_size(source.maps.keys);
  const std::size_t whole = source.axes.causal ? queries * (queries + 1) / 2 : queries * keys;
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const PatternCells& pattern) { return pattern.count() < whole; });
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

Panel color_legend_panel(const MapSource& source) {
  Panel panel;
  double x = append_bar(panel.svg) + sample_gap + 6;
  const auto add = [&](std::string_view mark, std::string_view text) {
    panel.svg += mark.empty() ? ""
                              : fmt::format(
                                    "<rect class=\"{0}\" x=\"{1:.1f}\" y=\"0.5\" "
                                    "width=\"{2}\" height=\"{2}\"/>\n",
                                    mark, x, sample_side);
    const double text_x = mark.empty() ? x : x + sample_side + 6;
    append_format(panel.svg, "<text class=\"quiet\" x=\"{:.1f}\" y=\"11.5\">{}</text>\n", text_x,
                  text);
    x = text_x + std::ceil(text_width(text, text_size)) + sample_gap;
  };
  if (source.axes.causal) add("masked", "masked");
  if (leaves_out(source)) {
    panel.svg = std::string(left_out_style) + panel.svg;
    add("left-out", "not computed: outside of the pattern");
  }
  if (source.maps.seen && source.maps.seen->non_token_weights.any()) {
    const auto& [keys, weights] = source.maps.seen->non_token_weights;
    const auto [least, most] = std::minmax_element(weights.begin(), weights.end());
    add("", fmt::format("{} take {:.2f} to {:.2f} of a row", keys->short_name, *least, *most));
  }
  if (source.maps.has_projected_keys() ||
      (source.maps.approximation && !source.maps.approximation->exact.empty())) {
    panel.svg = negative_style() + panel.svg;
    add("n36", "below 0");
  }
  if (source.maps.hashed(0, 0) != nullptr) {
    panel.svg = std::string(hash_style) + panel.svg;
    add("best-key", "a row's best key");
    add("best-key unmet", "not met");
  }
  if (has_odd(source.maps)) add("odd", "not a number");
  if (source.axes.has_continuations()) add("", "‿ goes on with the word before it");
  panel.width = x - sample_gap;
  panel.height = 32;
  return panel;
}

}  // namespace attn
