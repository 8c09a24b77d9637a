#include "view/svg/receptive_svg.h"

#include <algorithm>
#include <array>

#include "base/at.h"
#include "base/error.h"
#include "view/color.h"
#include "view/svg/picture.h"
#include "view/svg/xml_text.h"

namespace attn {
namespace {

constexpr int picture_side = 512;  // pixels, at most
constexpr int largest_side = 24;   // of a cell
constexpr double axis_left = 54;
constexpr double axis_top = 24;
constexpr int max_samples = 24;

/// The level of the scale of a layer, counted from 1: the first is darkest.
int level_of(int layer, int layers) {
  const int lightest = color_levels / 6, darkest = color_levels - 1;
  return layers < 2 ? darkest : darkest - (darkest - lightest) * (layer - 1) / (layers - 1);
}

Panel map_panel(const ReceptiveField& field) {
  const int layers = to_int(field.after.size());
  const int cell = std::clamp(picture_side / std::max(1, field.side), 1, largest_side);
  const int side = cell * field.side;
  Panel panel{"", axis_left + side + 2, axis_top + side + 2};
  std::vector<std::string> paths(to_size(layers) + 1);
  for (int row = 0; row < field.side; ++row) {
    for (int first = 0, end = 0; first < field.side; first = end) {
      const auto at_row = to_index(row) * field.side;
      const int layer = at(field.first, at_row + first);
      while (end < field.side && at(field.first, at_row + end) == layer) ++end;
      append_format(at(paths, layer), "M{} {}h{}v1h-{}z", first, row, end - first, end - first);
    }
  }
  append_format(panel.svg, "<text class=\"quiet small\" x=\"{}\" y=\"{}\">is seen →</text>\n",
                axis_left, axis_top - 8);
  append_format(panel.svg, "<text class=\"quiet small end\" x=\"{}\" y=\"{}\">sees ↓</text>\n",
                axis_left - 6, axis_top - 8);
  for (const auto& [token, y] :
       {std::pair{0, axis_top + 10}, {field.tokens - 1, axis_top + side}}) {
    append_format(panel.svg, "<text class=\"quiet small end\" x=\"{}\" y=\"{}\">{}</text>\n",
                  axis_left - 6, y, token);
  }
  append_format(panel.svg, "<g transform=\"translate({} {})\">\n<g class=\"cells\" ", axis_left,
                axis_top);
  append_format(panel.svg, "transform=\"scale({})\">\n", cell);
  for (int layer = 1; layer <= layers; ++layer) {
    if (at(paths, layer).empty()) continue;
    append_format(panel.svg, "<path class=\"s{}\" data-layers=\"{}\" d=\"{}\"/>\n",
                  level_of(layer, layers), layer, at(paths, layer));
  }
  append_format(panel.svg,
                "</g>\n<rect class=\"frame\" x=\"-0.5\" y=\"-0.5\" width=\"{0}\" "
                "height=\"{0}\"/>\n</g>\n",
                side + 1);
  return panel;
}

Panel legend_panel(const ReceptiveField& field) {
  const int layers = to_int(field.after.size());
  Panel panel{"<text class=\"quiet\" x=\"0\" y=\"11.5\">layers until seen</text>\n", 112, 20};
  const auto add = [&](std::string_view mark, const std::string& text) {
    append_format(panel.svg,
                  "<rect class=\"{}\" x=\"{}\" y=\"0.5\" width=\"14\" height=\"14\"/>\n"
                  "<text class=\"quiet\" x=\"{}\" y=\"11.5\">{}</text>\n",
                  mark, panel.width, panel.width + 20, text);
    panel.width += 46;
  };
  const int step = (layers + max_samples - 1) / max_samples;
  for (int layer = 1; layer <= layers; layer += std::max(1, step)) {
    add(fmt::format("s{}", level_of(layer, layers)), fmt::format("{}", layer));
  }
  if (std::find(field.first.begin(), field.first.end(), 0) != field.first.end()) {
    add("frame", "never");
    panel.width += 20;
  }
  return panel;
}

}  // namespace

std::string receptive_field_svg(const ReceptiveField& field, const std::string& model) {
  PictureText text;
  text.title = "Receptive field";
  text.description =
      "Each row is a token, and says after how many layers it has seen each other token (columns): "
      "the "
      "darker, the earlier. Where nothing is drawn it never sees it.";
  if (field.side < field.tokens) {
    text.sentences.push_back(
        fmt::format("A cell is a block of {} tokens or so: the first of them that any sees.",
                    (field.tokens + field.side / 2) / field.side));
  }
  text.model = model;
  return framed_picture(text, "attn-receptive", {map_panel(field)}, legend_panel(field));
}

}  // namespace attn
