#include "view/svg/tree_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/at.h"

namespace attn {
namespace {

/// For comparing: NaN is worse than any score.
float rank_of(const SearchNode& node) {
  return std::isnan(node.score) ? -std::numeric_limits<float>::infinity() : node.score;
}

bool goes_on(const SearchNode& node) {
  return node.kept || node.ended;
}

/// The nodes of one column in the order of their parents, better scores first.
void sort_column(std::vector<int>& column, const SearchTree& tree,
                 const std::vector<TreeLayout::NodePosition>& positions, const std::vector<int>& order) {
  const auto key = [&](int node) {
    const int parent = at(positions, node).parent;
    return std::pair(parent < 0 ? -1 : at(order, parent), -rank_of(at(tree.nodes, node)));
  };
  std::stable_sort(column.begin(), column.end(), [&](int a, int b) { return key(a) < key(b); });
}

/// How far down a column is moved: the best path to row 0, else the middle of what goes on to where
/// its parents are.
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
  std::vector<int> order(tree.nodes.size());  // of each node in its column
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
    // Parents come before their children; anything else would walk in a circle.
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
