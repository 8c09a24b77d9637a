// A beam search as a picture: a column a step, a box a candidate, the winner in a straight line.
#pragma once

#include <string>
#include <vector>

#include "record/attention_record.h"

namespace attn {

/// The search of a record, as SVG (XML, UTF-8): what each step kept, what it dropped (quieter),
/// what ended, with the score that decided; the exact log-probability, sum and score of each
/// candidate are in its data attributes and under the pointer. The path of the first hypothesis is
/// emphasised, or, where the tree does not hold it, that of the best score among the ended ones.
/// Never throws for what is in the record: without a search the picture says so, and a node whose
/// parent does not come before it stands at the start.
std::string search_tree_svg(const AttentionRecord& record);

// Where the nodes of a search tree stand: columns and rows without any crossing line.

struct TreeLayout {
  struct NodePosition {
    int parent = -1;    ///< as in the record, but always a node before this one or −1
    int column = 0;     ///< tokens before it: the step
    double row = 0;     ///< 0 is the row of the best path
    bool best = false;  ///< on the best path
  };
  std::vector<NodePosition> positions;    ///< a place a node
  std::vector<std::vector<int>> columns;  ///< the nodes of each step, from above
  double first_row = 0;
  double last_row = 0;
};

/// `winner` is the node that the best path ends in, or −1 for none. Children stand in the order of
/// their parents, so lines never cross; each column is moved so that the best path is straight, and
/// after its end so that what goes on does so nearly level.
TreeLayout layout_tree(const SearchTree& tree, int winner);

/// The node that the first hypothesis ends in; where the tree does not hold it, the ended node with
/// the best score, else the deepest one with the best score; −1 for an empty tree.
int best_hypothesis_node(const AttentionRecord& record);

}  // namespace attn
