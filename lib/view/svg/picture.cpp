#include "view/svg/picture.h"

#include <algorithm>
#include <cmath>

#include "base/strings/utf8.h"
#include "view/svg/picture_style.h"
#include "view/svg/svg_text.h"
#include "view/svg/xml_text.h"

namespace attn {
namespace {

constexpr double margin = 24;
constexpr double panel_gap = 36;
constexpr double smallest_content = 440;  // pixels: room for the title above a tiny map
constexpr double good_aspect = 1.35;      // width to height, about a screen or half a page
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

/// Beside or above each other, whichever looks less like a ribbon.
PanelLayout best_panel_layout(const std::vector<Panel>& panels) {
  const auto badness = [](const PanelLayout& arrangement) {
    return std::abs(std::log((arrangement.width + 1) / (arrangement.height + 140) / good_aspect));
  };
  PanelLayout beside = layout_panels(panels, true);
  PanelLayout above = layout_panels(panels, false);
  return badness(beside) <= badness(above) ? beside : above;
}

/// Lines of one text from `top` on; returns where the next thing goes.
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
  // Bold letters are wider than the size says.
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

}  // namespace attn
