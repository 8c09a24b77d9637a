#include "view/terminal/map_text.h"

#include <algorithm>
#include <array>

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

bool is_selected(const ShowSelection& selection, AttentionKind kind, int layer, int head) {
  return std::any_of(selection.items.begin(), selection.items.end(), [=](const ShowItem& item) {
    return item.kind == kind && item.layer.value_or(layer) == layer &&
           item.head.value_or(head) == head;
  });
}

bool is_shown(const ShowSelection& selection, AttentionKind kind, const AttentionMaps& maps,
              int layer, int head) {
  if (selection.all) return true;
  if (selection.last_layers) return layer == maps.layers - 1;
  return is_selected(selection, kind, layer, head);
}

/// "layer 2 of 0–2", or "layer 0 (only one)".
std::string place_text(std::string_view what, int index, int count) {
  if (count == 1) return fmt::format("{} 0 (only one)", what);
  return fmt::format("{} {} of 0–{}", what, index, count - 1);
}

/// The longest wording that fits.
std::string title_text(AttentionKind kind, const AttentionMaps& maps, int layer, int head,
                       int width) {
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

  void render(const ShowSelection& selection, std::string& out) const {
    bool drawn = false;
    for (int layer = 0; layer < maps_.layers; ++layer) {
      std::vector<Panel> panels;  // of this layer: its heads stand beside each other
      for (int head = 0; head < maps_.heads; ++head) {
        if (is_shown(selection, kind_.kind, maps_, layer, head)) {
          panels.push_back(draw_panel(layer, head));
        }
      }
      if (panels.empty()) continue;
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

  Panel draw_panel(int layer, int head) const {
    TextLine title;
    if (color_ != ColorMode::none) title.add_escape("\x1b[1m");
    title.add(title_text(kind_.kind, maps_, layer, head, width_));
    if (color_ != ColorMode::none) title.add_escape("\x1b[0m");
    Panel panel;
    panel.columns = std::max(layout_.width, title.columns);
    panel.lines.push_back(std::move(title));
    for (TextLine& line : draw_grid(axes_, maps_.map(layer, head), layout_, color_)) {
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

bool is_drawable(const AttentionMaps& maps) {
  return maps.queries > 0 && maps.keys > 0;
}

}  // namespace

std::string render_maps(const AttentionRecord& record, std::size_t hypothesis,
                        const ShowSelection& selection, const TerminalStyle& style) {
  std::string out;
  for (const KindText& kind : kinds) {
    const AttentionMaps* maps = find_maps(record, kind.kind, hypothesis);
    if (maps == nullptr || !is_drawable(*maps)) continue;
    KindRenderer(kind, *maps, axes_of(record, kind.kind, hypothesis), style).render(selection, out);
  }
  return out;
}

}  // namespace attn
