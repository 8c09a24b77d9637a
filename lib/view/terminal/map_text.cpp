#include "view/terminal/map_text.h"

#include <algorithm>
#include <array>

#include "base/at.h"
#include "base/error.h"
#include "base/utf8.h"
#include "view/terminal/grid.h"

namespace attn {
namespace {

constexpr int map_gap = 3;  // columns between two maps that stand side by side

struct KindText {
  AttentionKind kind;
  std::string_view explanation;
};

constexpr std::array<KindText, 3> kinds = {{
    {AttentionKind::encoder_self,
     "Each source word (row) looks at all source words (columns). A row sums to 1."},
    {AttentionKind::decoder_self,
     "Each step (row: reads → writes) looks at the words read so far. · is masked."},
    {AttentionKind::cross, "Each step (row: reads → writes) looks at the source words (columns)."},
}};

/// "layer 2 of 0–2", or "layer 0 (only one)".
std::string place_text(std::string_view what, int index, int count) {
  if (count == 1) return fmt::format("{} 0 (only one)", what);
  return fmt::format("{} {} of 0–{}", what, index, count - 1);
}

/// The longest wording that fits.
std::string title_text(const HeadName& name, const AttentionMaps& maps, int width) {
  if (name.pick == HeadPick::mean) return to_string(name);
  const AttentionKind kind = name.kind;
  const int layer = *name.layer, head = *name.head;
  std::string title =
      fmt::format("{} · {} · {}", kind_name(kind), place_text("layer", layer, maps.layers),
                  place_text("head", head, maps.heads));
  if (display_width(title) <= width) return title;
  title = fmt::format("{} · layer {} · head {}", kind_name(kind), layer, head);
  if (display_width(title) <= width) return title;
  return fit_width(fmt::format("{} · layer {} · head {}", kind_word(kind), layer, head), width);
}

/// Words on lines of at most `width` columns.
std::string wrapped(std::string_view text, int width) {
  std::string out;
  int columns = 0;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    const int word_columns = display_width(word);
    if (columns > 0) {
      const bool fits = columns + 1 + word_columns <= width;
      out += fits ? ' ' : '\n';
      columns = fits ? columns + 1 : 0;
    }
    out += word;
    columns += word_columns;
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return out + '\n';
}

/// One map with its head line, every line filled up to `columns` when another stands beside it.
struct Panel {
  std::vector<TextLine> lines;
  int columns = 0;
};

/// All maps of one kind: the same axes, so the same layout.
class KindRenderer {
 public:
  KindRenderer(const KindText& kind, const AttentionMaps& maps, GridAxes axes,
               const TerminalStyle& style)
      : kind_(kind),
        maps_(maps),
        axes_(std::move(axes)),
        width_(std::max(style.width, narrowest_width)),
        color_(style.color),
        layout_(plan_grid(axes_, width_)) {}

  void render(const std::vector<ShownMap>& shown, std::string& out) const {
    bool drawn = false;
    for (std::size_t i = 0; i < shown.size();) {
      std::vector<Panel> panels;  // of this layer: its heads stand beside each other
      const std::optional<int> layer = shown[i].name.layer;
      for (; i < shown.size() && shown[i].name.layer == layer; ++i) {
        panels.push_back(draw_panel(shown[i]));
      }
      if (!out.empty()) out += '\n';
      if (!drawn) out += explanation();
      drawn = true;
      append_panels(panels, out);
    }
  }

 private:
  std::string explanation() const {
    std::string lines = wrapped(kind_.explanation, width_);
    if (axes_.has_continuations()) {
      lines += "‿ goes on with the word before it.\n";
    }
    return lines;
  }

  Panel draw_panel(const ShownMap& shown) const {
    TextLine title;
    if (color_ != ColorMode::none) title.add_escape("\x1b[1m");
    title.add(title_text(shown.name, maps_, width_));
    if (color_ != ColorMode::none) title.add_escape("\x1b[0m");
    Panel panel;
    panel.columns = std::max(layout_.width, title.columns);
    panel.lines.push_back(std::move(title));
    for (TextLine& line : draw_grid(axes_, shown.weights, layout_, color_)) {
      panel.lines.push_back(std::move(line));
    }
    return panel;
  }

  void append_panels(std::vector<Panel>& panels, std::string& out) const {
    std::size_t first = 0;
    while (first < panels.size()) {
      // As many as fit beside each other; a folded map stands alone.
      std::size_t end = first + 1;
      int columns = panels[first].columns;
      while (layout_.blocks == 1 && end < panels.size() &&
             columns + map_gap + panels[end].columns <= width_) {
        columns += map_gap + panels[end++].columns;
      }
      if (first > 0) out += '\n';
      append_row(std::span(panels).subspan(first, end - first), out);
      first = end;
    }
  }

  /// Panels of one kind have equally many lines.
  static void append_row(std::span<Panel> panels, std::string& out) {
    for (std::size_t line = 0; line < panels[0].lines.size(); ++line) {
      TextLine joined;
      int start = 0;
      for (Panel& panel : panels) {
        joined.pad_to(start);
        joined.text += panel.lines[line].text;
        joined.columns += panel.lines[line].columns;
        start += panel.columns + map_gap;
      }
      joined.text.erase(joined.text.find_last_not_of(' ') + 1);
      out += joined.text;
      out += '\n';
    }
  }

  const KindText& kind_;
  const AttentionMaps& maps_;
  GridAxes axes_;
  int width_;
  ColorMode color_;
  GridLayout layout_;
};

}  // namespace

std::string render_maps(const AttentionRecord& record, std::size_t hypothesis,
                        const std::vector<ShownMaps>& shown, const TerminalStyle& style) {
  std::string out;
  for (const ShownMaps& kind : shown) {
    const AttentionMaps* maps = find_maps(record, kind.kind, hypothesis);
    if (maps == nullptr) continue;
    KindRenderer(at(kinds, kind.kind), *maps, axes_of(record, kind.kind, hypothesis), style)
        .render(kind.maps, out);
  }
  return out;
}

}  // namespace attn
