#include "view/svg/picture.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/strings/utf8.h"
#include "view/color.h"
#include "view/svg/svg_text.h"

namespace attn {
namespace {

constexpr double margin = 24;
constexpr double panel_gap = 36;
constexpr double smallest_content = 440;  // pixels: leaves room for the title above a tiny map
constexpr double good_aspect = 1.35;      // width to height, roughly a screen or half a page
constexpr double title_size = 18;
constexpr double sentence_size = 14;
constexpr double model_size = 12;
constexpr std::size_t max_title_lines = 2;
constexpr std::size_t max_sentence_lines = 3;

struct PanelPosition {
  double x = 0;
  double y = 0;
};

struct PanelLayout {
  std::vector<PanelPosition> positions;
  double width = 0;
  double height = 0;
};

PanelLayout layout_panels(const std::vector<Panel>& panels, bool beside) {
  PanelLayout result;
  for (const Panel& panel : panels) {
    const double gap = result.positions.empty() ? 0 : panel_gap;
    if (beside) {
      result.positions.push_back({result.width + gap, 0});
      result.width += gap + panel.width;
      result.height = std::max(result.height, panel.height);
    } else {
      result.positions.push_back({0, result.height + gap});
      result.height += gap + panel.height;
      result.width = std::max(result.width, panel.width);
    }
  }
  return result;
}

/// Places panels side by side or stacked, whichever is closer to a good aspect ratio.
PanelLayout best_panel_layout(const std::vector<Panel>& panels) {
  const auto badness = [](const PanelLayout& arrangement) {
    return std::abs(std::log((arrangement.width + 1) / (arrangement.height + 140) / good_aspect));
  };
  PanelLayout beside = layout_panels(panels, true);
  PanelLayout above = layout_panels(panels, false);
  return badness(beside) <= badness(above) ? beside : above;
}

/// Style of a text drawn line by line.
struct TextStyle {
  std::string_view css_class;
  double size = 0;
  std::size_t lines = 1;
};

double append_lines(std::string& out, std::string_view text, const TextStyle& style, double top,
                    double width) {
  double baseline = top;
  for (const std::string& line : wrap_text(printable(text), style.size, width, style.lines)) {
    baseline += std::ceil(style.size * 1.35);
    append_format(out, "<text class=\"{}\" x=\"0\" y=\"{}\">{}</text>\n", style.css_class, baseline,
                  xml_escaped(line));
  }
  return baseline;
}

Panel title_block(const PictureText& text, double width) {
  Panel block;
  // Bold letters are wider than the estimate.
  double y =
      append_lines(block.svg, text.title, {"title", title_size, max_title_lines}, 0, width / 1.12);
  y += 3;
  for (const std::string& sentence : text.sentences) {
    y = append_lines(block.svg, sentence, {"sentence", sentence_size, max_sentence_lines}, y,
                     width);
  }
  y = append_lines(block.svg, text.model, {"quiet", model_size, 2}, y + 3, width);
  block.width = width;
  block.height = y + 4;
  return block;
}

void append_placed(std::string& out, std::string_view group_class, const Panel& panel,
                   const PanelPosition& position) {
  append_format(out, "<g class=\"{}\" transform=\"translate({} {})\">\n{}</g>\n", group_class,
                position.x, position.y, panel.svg);
}

}  // namespace

std::string model_line(const ModelSummary& model) {
  std::string_view name = model.name;
  while (name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
  if (const std::size_t slash = name.rfind('/'); slash + 1 < name.size()) {
    name.remove_prefix(slash + 1);  // npos + 1 is 0
  }
  std::string line = truncate_to_width(printable(name), 60);
  if (model.random_weights) {
    line += " · random weights";
    if (model.seed) append_format(line, " (seed {})", *model.seed);
  }
  if (model.update) append_format(line, " · update {}", *model.update);
  append_format(line, " · {} + {} layers", model.encoder_layers, model.decoder_layers);
  if (model.encoder_heads == model.decoder_heads) {
    append_format(line, " · {} head{}", model.encoder_heads, model.encoder_heads == 1 ? "" : "s");
  } else {
    append_format(line, " · {} + {} heads", model.encoder_heads, model.decoder_heads);
  }
  append_format(line, " · d_model {}", model.d_model);
  return line;
}

std::vector<std::string> sentence_lines(const AttentionRecord& record, std::size_t hypothesis) {
  std::vector<std::string> lines{record.source_text.empty() ? "(empty sentence)"
                                                            : record.source_text};
  if (hypothesis < record.hypotheses.size()) {
    lines.push_back("→ " + record.hypotheses[hypothesis].text);
  }
  return lines;
}

std::string framed_picture(const PictureText& text, std::string_view kind_class,
                           const std::vector<Panel>& panels, const Panel& legend) {
  const PanelLayout arrangement = best_panel_layout(panels);
  const double content = std::ceil(std::max({arrangement.width, legend.width, smallest_content}));
  const Panel title = title_block(text, content);
  const double panels_top = margin + title.height + 20;
  const double legend_top = panels_top + std::ceil(arrangement.height) + 20;
  const double width = content + 2 * margin;
  const double height = std::ceil(legend_top + legend.height + margin);

  std::string out;
  append_format(out,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"attn-picture {0}\" role=\"img\" "
                "width=\"{1}\" height=\"{2}\" viewBox=\"0 0 {1} {2}\">\n<title>{3}</title>\n"
                "<desc>{4}</desc>\n",
                kind_class, width, height, xml_escaped(text.title), xml_escaped(text.description));
  out += picture_style();
  append_format(out, "<rect class=\"page\" width=\"{}\" height=\"{}\"/>\n", width, height);
  append_placed(out, "about", title, {margin, margin - 4});
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const PanelPosition& position = arrangement.positions[i];
    append_placed(out, "panel", panels[i], {margin + position.x, panels_top + position.y});
  }
  append_placed(out, "legend", legend, {margin, legend_top});
  out += "</svg>\n";
  return out;
}

namespace {

constexpr std::string_view light_style = R"(
.attn-picture text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums;font-size:12px;fill:#1f2328}
.attn-picture .title{font-size:18px;font-weight:600}
.attn-picture .sentence{font-size:14px}
.attn-picture .heading{font-size:13px;font-weight:600}
.attn-picture .quiet{fill:#59636e}
.attn-picture .small{font-size:11px}
.attn-picture .label-9{font-size:9px}
.attn-picture .label-10{font-size:10px}
.attn-picture .label-11{font-size:11px}
.attn-picture .middle{text-anchor:middle}
.attn-picture .end{text-anchor:end}
.attn-picture .value{text-anchor:middle;fill:#000000}
.attn-picture .value.strong{fill:#ffffff}
.attn-picture .value.faint{fill:#626c77}
.attn-picture .numbers-8 .value{font-size:8.5px}
.attn-picture .numbers-10 .value{font-size:10px}
.attn-picture .page{fill:#ffffff}
.attn-picture .cell rect,.attn-picture .cells,.attn-picture .bar{shape-rendering:crispEdges}
.attn-picture .masked{fill:url(#attn-hatch)}
.attn-picture .hatch-ground{fill:#ffffff}
.attn-picture .hatch-line{stroke:#c6ccd3;stroke-width:1.5}
.attn-picture .odd{fill:#f6c244;stroke:none}
.attn-picture .frame{fill:none;stroke:#9aa3ad;stroke-width:1}
.attn-picture .chosen{fill:none;stroke:#c2500a;stroke-width:2}
.attn-picture .tick-line{stroke:#9aa3ad;stroke-width:1}
.attn-picture .edge{fill:none;stroke:#59636e;stroke-width:1.25}
.attn-picture .dropped .edge{stroke:#b3bbc4;stroke-width:1;stroke-dasharray:3 3}
.attn-picture .best .edge{stroke:#0957a2;stroke-width:3}
.attn-picture .box{fill:#eef3f8;stroke:#9aa3ad;stroke-width:1}
.attn-picture .dropped .box{fill:none;stroke:none}
.attn-picture .dropped text{fill:#6b7580}
.attn-picture .best .box{fill:#d1e6f1;stroke:#0957a2;stroke-width:2}
.attn-picture .best .token{font-weight:600}
.attn-picture .end-mark{fill:#59636e}
.attn-picture .best .end-mark{fill:#0957a2}
)";

// Only on screens: a printed page is white.
constexpr std::string_view dark_style = R"(@media screen and (prefers-color-scheme:dark){
.attn-picture text{fill:#e6edf3}
.attn-picture .quiet{fill:#9aa4af}
.attn-picture .value{fill:#ffffff}
.attn-picture .value.strong{fill:#000000}
.attn-picture .value.faint{fill:#9aa4af}
.attn-picture .page{fill:#0d1117}
.attn-picture .hatch-ground{fill:#0d1117}
.attn-picture .hatch-line{stroke:#39424d}
.attn-picture .odd{fill:#d29922}
.attn-picture .frame,.attn-picture .tick-line{stroke:#515b66}
.attn-picture .chosen{stroke:#f4924d}
.attn-picture .edge{stroke:#9aa4af}
.attn-picture .dropped .edge{stroke:#4b5560}
.attn-picture .best .edge{stroke:#6cb3f5}
.attn-picture .box{fill:#1b222c;stroke:#515b66}
.attn-picture .dropped text{fill:#8b949e}
.attn-picture .best .box{fill:#1d3d5f;stroke:#6cb3f5}
.attn-picture .end-mark{fill:#9aa4af}
.attn-picture .best .end-mark{fill:#6cb3f5}
)";

constexpr std::string_view hatch =
    R"svg(<defs><pattern id="attn-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-ground" width="5" height="5"/><line class="hatch-line" x1="0" y1="0" x2="0" y2="5"/></pattern></defs>
)svg";

void append_levels(std::string& out, Rgb (*color_of)(int level)) {
  for (int level = 0; level < color_levels; ++level) {
    const Rgb color = color_of(level);
    append_format(out, ".attn-picture .s{}{{fill:#{:02x}{:02x}{:02x}}}\n", level, color.red,
                  color.green, color.blue);
  }
}

}  // namespace

std::string picture_style() {
  std::string out = "<style>";
  out += light_style;
  append_levels(out, light_color);
  out += dark_style;
  append_levels(out, dark_color);
  out += "}\n</style>\n";
  out += hatch;
  return out;
}

}  // namespace attn
