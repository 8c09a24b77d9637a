// A beam search as a picture: one column per step, one box per candidate, and the winner in a
// straight line.
#pragma once

#include <string>
#include <vector>

#include "record/attention_record.h"

namespace attn {

/// Draws the search of a record as SVG (XML, UTF-8): the candidates that each step kept, those it
/// dropped (muted) and those that ended, with the score that decided. The exact log-probability,
/// sum and score of each candidate are in its data attributes and its tooltip. The path of the
/// first hypothesis is emphasised or, if the tree does not contain it, the path of the ended
/// candidate with the best score. Never throws because of the record's contents: without a search
/// the picture says so, and a node whose parent does not come before it is placed at the start.
std::string search_tree_svg(const AttentionRecord& record);

// The positions of a search tree's nodes in columns and rows, without crossing lines.

struct TreeLayout {
  struct NodePosition {
    int parent = -1;    ///< as in the record, but always an earlier node or −1
    int column = 0;     ///< the step: the number of tokens before it
    double row = 0;     ///< 0 is the row of the best path
    bool best = false;  ///< on the best path
  };
  std::vector<NodePosition> positions;    ///< one position per node
  std::vector<std::vector<int>> columns;  ///< the nodes of each step, from top to bottom
  double first_row = 0;
  double last_row = 0;
};

/// Lays out the tree. `winner` is the last node of the best path, or −1 for none. Children are in
/// the order of their parents, so lines never cross. Each column is shifted so that the best path
/// is straight; after its end, so that the remaining paths continue nearly level.
TreeLayout layout_tree(const SearchTree& tree, int winner);

/// Returns the last node of the first hypothesis. If the tree does not contain it, returns the
/// ended node with the best score, or else the deepest node with the best score; −1 for an empty
/// tree.
int best_hypothesis_node(const AttentionRecord& record);

}  // namespace attn
