#include "view/svg/search_tree_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "view/map_labels.h"
#include "view/svg/map/map_drawing.h"
#include "view/svg/picture.h"
#include "view/svg/svg_text.h"

namespace attn {
namespace {

constexpr double tree_heading_height = 24;
constexpr double row_pitch = 27;
constexpr double box_height = 21;
constexpr double box_padding = 7;  // left and right padding of a box
constexpr double column_gap = 34;  // room for the lines
constexpr double max_label = 110;  // pixels
constexpr double token_size = 12;
constexpr double score_size = 11;
constexpr double end_mark_width = 4;
constexpr int tree_title_columns = 200;

std::string score_text(float score) {
  if (std::isnan(score)) return "NaN";
  if (std::isinf(score)) return score > 0 ? "∞" : "−∞";
  std::string text = fmt::format("{:.2f}", std::abs(score));
  return score < 0 && text != "0.00" ? "−" + text : text;
}

std::string_view state_of(const SearchNode& node) {
  if (node.ended) return "ended";
  return node.kept ? "kept" : "dropped";
}

/// Returns labels that depend on the path from the start: a token that continues its parent's word
/// is marked.
std::vector<std::string> labels_of(const SearchTree& tree) {
  std::vector<std::string> labels;
  std::vector<std::string> tokens;
  for (const SearchNode& node : tree.nodes) tokens.push_back(node.token);
  const bool marked = std::any_of(tokens.begin(), tokens.end(),
                                  [](const std::string& token) { return token.starts_with("▁"); });
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const int parent = tree.nodes[i].parent;
    const bool has_parent = parent >= 0 && to_size(parent) < i;
    const std::string before = has_parent ? at(tokens, parent) : "<pad>";
    // Two tokens may not show if the vocabulary marks word starts, so a third one that does is
    // added.
    const std::vector<std::string> row = token_labels({marked ? "▁" : "", before, tokens[i]});
    labels.push_back(row[2]);
  }
  return labels;
}

class TreePicture {
 public:
  explicit TreePicture(const AttentionRecord& record)
      : tree_(*record.search),
        layout_(layout_tree(tree_, best_hypothesis_node(record))),
        labels_(labels_of(tree_)),
        start_(start_label(record)) {
    double x = text_width(start_, token_size) + 2 * box_padding;
    for (const std::vector<int>& column : layout_.columns) {
      Column position{std::ceil(x + column_gap), 0, 0};
      for (const int node : column) position = widened(position, to_size(node));
      x = position.x + width_of(position);
      columns_.push_back(position);
    }
    width_ = std::ceil(x);
  }

  Panel draw() {
    for (std::size_t step = 0; step < columns_.size(); ++step) {
      append_format(out_, "<text class=\"quiet small\" x=\"{}\" y=\"11\">step {}</text>\n",
                    columns_[step].x, step);
    }
    append_format(out_,
                  "<g class=\"start\">\n<rect class=\"box\" x=\"0.5\" y=\"{}\" width=\"{:.1f}\" "
                  "height=\"{}\" rx=\"4\"/>\n<text x=\"{}\" y=\"{}\">{}</text>\n</g>\n",
                  centre(0) - box_height / 2, text_width(start_, token_size) + 2 * box_padding,
                  box_height, box_padding + 0.5, centre(0) + 4.5, xml_escaped(start_));
    // The most important edges and boxes are drawn last, on top.
    for (const auto& wanted :
         std::array<std::pair<bool, bool>, 3>{{{false, false}, {true, false}, {true, true}}}) {
      for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
        const bool best = layout_.positions[i].best;
        const bool alive = best || tree_.nodes[i].kept || tree_.nodes[i].ended;
        if (std::pair(alive, best) == wanted) append_node(i);
      }
    }
    return {std::move(out_), width_ + 2, centre(layout_.last_row) + box_height / 2 + 4};
  }

 private:
  struct Column {
    double x = 0;
    double label = 0;  ///< the widest, pixels
    double score = 0;  ///< the widest, in pixels
  };

  static std::string start_label(const AttentionRecord& record) {
    if (record.hypotheses.empty()) return "start";
    const std::vector<std::string> labels = token_labels(record.hypotheses[0].decoder_input.tokens);
    return labels.empty() ? "start" : fit_text(labels[0], token_size, max_label);
  }

  Column widened(Column position, std::size_t node) const {
    // Labels are bold on the best path.
    const double label = text_width(labels_[node], token_size, FontWeight::bold);
    position.label = std::max(position.label, std::min(std::ceil(label), max_label));
    const double score = text_width(score_text(tree_.nodes[node].score), score_size);
    position.score = std::max(position.score, std::ceil(score));
    return position;
  }

  static double width_of(const Column& column) {
    return 2 * box_padding + column.label + 8 + column.score + end_mark_width;
  }

  /// Returns the vertical centre of a row in pixels.
  double centre(double row) const {
    return tree_heading_height + (row - layout_.first_row) * row_pitch + box_height / 2;
  }

  /// Appends a curve from the right edge of the parent's box.
  void append_edge(const TreeLayout::NodePosition& position) {
    double x0 = text_width(start_, token_size) + 2 * box_padding + 0.5;
    double y0 = centre(0);
    if (position.parent >= 0) {
      const TreeLayout::NodePosition& parent = at(layout_.positions, position.parent);
      const Column& column = at(columns_, parent.column);
      x0 = column.x + width_of(column);
      y0 = centre(parent.row);
    }
    const double x1 = at(columns_, position.column).x;
    const double y1 = centre(position.row);
    const double bend = (x0 + x1) / 2;
    append_format(out_,
                  "<path class=\"edge\" d=\"M{0:.1f} {1:.1f}C{2:.1f} {1:.1f} {2:.1f} {3:.1f} "
                  "{4:.1f} {3:.1f}\"/>\n",
                  x0, y0, bend, y1, x1);
  }

  void append_node(std::size_t index) {
    const SearchNode& node = tree_.nodes[index];
    const TreeLayout::NodePosition& position = layout_.positions[index];
    const Column& column = at(columns_, position.column);
    append_format(out_,
                  "<g class=\"node {}{}\" id=\"node-{}\" data-parent=\"{}\" data-token-id=\"{}\"",
                  state_of(node), position.best ? " best" : "", index, position.parent, node.id);
    append_number_attribute("log-prob", node.log_prob);
    append_number_attribute("sum", node.sum);
    append_number_attribute("score", node.score);
    append_format(out_, ">\n<title>{} ({})",
                  xml_escaped(truncate_to_width(labels_[index], tree_title_columns)),
                  state_of(node));
    append_title_line("log-probability", node.log_prob);
    append_title_line("sum", node.sum);
    append_title_line("score", node.score);
    out_ += "</title>\n";
    append_edge(position);
    const double y = centre(position.row);
    const double width = width_of(column);
    append_format(out_,
                  "<rect class=\"box\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\"/>\n",
                  column.x, y - box_height / 2, width, box_height);
    if (node.ended) {
      append_format(
          out_, "<rect class=\"end-mark\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n",
          column.x + width - end_mark_width, y - box_height / 2, end_mark_width, box_height);
    }
    const double shrink = position.best ? 1.12 : 1;  // bold letters are wider
    append_format(out_, "<text class=\"token\" x=\"{}\" y=\"{}\">{}</text>\n",
                  column.x + box_padding, y + 4.5,
                  xml_escaped(fit_text(labels_[index], token_size * shrink, column.label + 1)));
    append_format(out_, "<text class=\"score quiet small end\" x=\"{}\" y=\"{}\">{}</text>\n</g>\n",
                  column.x + width - box_padding - end_mark_width, y + 4, score_text(node.score));
  }

  void append_number_attribute(std::string_view name, float value) {
    append_format(out_, " data-{}=\"", name);
    append_float(out_, value);
    out_ += '"';
  }

  void append_title_line(std::string_view name, float value) {
    append_format(out_, "\n{} ", name);
    append_float(out_, value);
  }

  const SearchTree& tree_;
  TreeLayout layout_;
  std::vector<std::string> labels_;
  std::string start_;
  std::vector<Column> columns_;
  double width_ = 0;
  std::string out_;
};

/// Draws samples of the four kinds of boxes.
Panel tree_legend(const SearchTree& tree) {
  Panel legend;
  double x = 0;
  const std::array<std::pair<std::string_view, std::string_view>, 4> samples = {{
      {"kept best", "the translation"},
      {"kept", "kept for the next step"},
      {"ended", "ended"},
      {"dropped", "dropped"},
  }};
  for (const auto& [css_class, text] : samples) {
    append_format(legend.svg,
                  "<g class=\"{0}\"><path class=\"edge\" d=\"M{1} 8.5h14\"/><rect class=\"box\" "
                  "x=\"{2}\" y=\"1\" width=\"26\" height=\"15\" rx=\"3\"/>",
                  css_class, x, x + 14);
    if (css_class == "ended") {
      append_format(legend.svg,
                    "<rect class=\"end-mark\" x=\"{}\" y=\"1\" width=\"4\" height=\"15\"/>",
                    x + 36);
    }
    append_format(legend.svg, "<text class=\"quiet\" x=\"{}\" y=\"12.5\">{}</text></g>\n", x + 47,
                  text);
    x += 47 + std::ceil(text_width(text, 12)) + 24;
  }
  append_format(legend.svg,
                "<text class=\"quiet\" x=\"0\" y=\"36\">Numbers are scores: the sum of "
                "log-probabilities ÷ length{}</text>\n",
                tree.length_penalty == 1 ? "" : fmt::format("^{}", tree.length_penalty));
  legend.width = x - 24;
  legend.height = 42;
  return legend;
}

}  // namespace

std::string search_tree_svg(const AttentionRecord& record) {
  PictureText text;
  text.sentences = sentence_lines(record, 0);
  text.model = model_line(record.model);
  if (!record.search || record.search->nodes.empty()) {
    text.title = "Search";
    text.description = "No search was recorded.";
    return framed_picture(
        text, "attn-empty",
        {{"<text class=\"quiet note\" x=\"0\" y=\"16\">no search was recorded</text>\n", 400, 24}},
        {});
  }
  const SearchTree& tree = *record.search;
  text.title = tree.beams == 1 ? "Greedy search" : fmt::format("Beam search, {} beams", tree.beams);
  text.description =
      "A column is a step, a box is a candidate token with its score. Lines lead from each "
      "hypothesis to its extensions; the translation is the straight thick line.";
  return framed_picture(text, "attn-search", {TreePicture(record).draw()}, tree_legend(tree));
}

namespace {

/// Returns a score for comparison in which NaN is worse than any number.
float rank_of(const SearchNode& node) {
  return std::isnan(node.score) ? -std::numeric_limits<float>::infinity() : node.score;
}

bool goes_on(const SearchNode& node) {
  return node.kept || node.ended;
}

/// Sorts the nodes of one column by their parents' order, better scores first.
void sort_column(std::vector<int>& column, const SearchTree& tree,
                 const std::vector<TreeLayout::NodePosition>& positions,
                 const std::vector<int>& order) {
  const auto key = [&](int node) {
    const int parent = at(positions, node).parent;
    return std::pair(parent < 0 ? -1 : at(order, parent), -rank_of(at(tree.nodes, node)));
  };
  std::stable_sort(column.begin(), column.end(), [&](int a, int b) { return key(a) < key(b); });
}

/// Returns how far down to shift a column: to bring the best path to row 0, or else to align the
/// continuing nodes with their parents.
double shift_of(const std::vector<int>& column, const SearchTree& tree, const TreeLayout& layout) {
  std::vector<double> shifts;
  for (std::size_t i = 0; i < column.size(); ++i) {
    const auto node = to_size(column[i]);
    const TreeLayout::NodePosition& position = layout.positions[node];
    const auto row = static_cast<double>(i);
    if (position.best) return -row;
    if (!goes_on(tree.nodes[node])) continue;
    const double parent_row = position.parent < 0 ? 0 : at(layout.positions, position.parent).row;
    shifts.push_back(parent_row - row);
  }
  if (shifts.empty()) return -std::floor(static_cast<double>(column.size()) / 2);
  std::nth_element(shifts.begin(), shifts.begin() + to_index(shifts.size() / 2), shifts.end());
  return shifts[shifts.size() / 2];
}

}  // namespace

TreeLayout layout_tree(const SearchTree& tree, int winner) {
  TreeLayout layout;
  layout.positions.resize(tree.nodes.size());
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    TreeLayout::NodePosition& position = layout.positions[i];
    const int parent = tree.nodes[i].parent;
    if (parent >= 0 && to_size(parent) < i) {
      position.parent = parent;
      position.column = at(layout.positions, parent).column + 1;
    }
    const auto column = to_size(position.column);
    if (layout.columns.size() <= column) layout.columns.resize(column + 1);
    layout.columns[column].push_back(to_int(i));
  }
  for (int node = winner; node >= 0; node = at(layout.positions, node).parent) {
    at(layout.positions, node).best = true;
  }
  std::vector<int> order(tree.nodes.size());  // index of each node in its column
  for (std::vector<int>& column : layout.columns) {
    sort_column(column, tree, layout.positions, order);
    const double shift = shift_of(column, tree, layout);
    for (std::size_t i = 0; i < column.size(); ++i) {
      const auto node = to_size(column[i]);
      order[node] = to_int(i);
      layout.positions[node].row = static_cast<double>(i) + shift;
      layout.first_row = std::min(layout.first_row, layout.positions[node].row);
      layout.last_row = std::max(layout.last_row, layout.positions[node].row);
    }
  }
  return layout;
}

int best_hypothesis_node(const AttentionRecord& record) {
  if (!record.search) return -1;
  const std::vector<SearchNode>& nodes = record.search->nodes;
  std::map<std::pair<int, int>, int> children;  // by parent and token
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    children.emplace(std::pair(nodes[i].parent, nodes[i].id), to_int(i));
  }
  int node = -1;
  bool found = !record.hypotheses.empty() && !record.hypotheses[0].produced.ids.empty();
  for (const int id : found ? record.hypotheses[0].produced.ids : std::vector<int>()) {
    const auto child = children.find({node, id});
    // Parents precede their children; otherwise the search could follow a cycle.
    found = found && child != children.end() && child->second > node;
    if (!found) break;
    node = child->second;
  }
  if (found) return node;
  int best = -1;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto quality = [&nodes](std::size_t at) {
      return std::tuple(nodes[at].ended, nodes[at].ended ? 0 : nodes[at].step, rank_of(nodes[at]));
    };
    if (best < 0 || quality(i) > quality(to_size(best))) best = to_int(i);
  }
  return best;
}

}  // namespace attn
