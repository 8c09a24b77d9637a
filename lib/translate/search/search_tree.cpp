#include "translate/search/search_tree.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/at.h"
#include "translate/recorder.h"

namespace attn {
namespace {

constexpr float kNoBeam = -1e8F;  // a score below this belongs to a continuation of an empty beam

/// Returns the nodes from the root to `node`.
std::vector<int> path_to(const SearchTree& tree, int node) {
  std::vector<int> path;
  for (; node >= 0; node = at(tree.nodes, node).parent) path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

/// Returns row `query` of every head, `keys` columns each, one after another.
std::vector<float> rows_of(const AttentionMaps& maps, int query, int keys) {
  std::vector<float> rows, scratch;
  for (int layer = 0; layer < maps.layers; ++layer) {
    for (int head = 0; head < maps.heads; ++head) {
      const std::span<const float> map = maps.whole(layer, head, scratch);
      const auto first = map.begin() + to_index(query) * maps.keys;
      rows.insert(rows.end(), first, first + keys);
    }
  }
  return rows;
}

/// The input for running a tree's branches again.
struct BranchInput {
  const Transformer& model;
  const EncodedSource& source;
  int start;
};

/// Runs a branch with teacher forcing. Stores the attention rows of each step under the node whose
/// children the step creates (−1: the start).
void teacher_force_branch(const SearchTree& tree, int leaf, const BranchInput& with,
                          std::map<int, std::pair<std::vector<float>, std::vector<float>>>& rows) {
  std::vector<int> path{-1};
  std::vector<int> ids{with.start};
  for (const int node : path_to(tree, leaf)) {
    path.push_back(node);
    ids.push_back(at(tree.nodes, node).id);
  }
  PackedTokens input;
  input.add(ids);
  AttentionRecorder recorder;
  with.model.decode(input, with.source, &recorder);
  const AttentionMaps self = recorder.take(AttentionSite::decoder_self, 0);
  const AttentionMaps cross = recorder.take(AttentionSite::cross, 0);
  for (std::size_t t = 0; t < path.size(); ++t) {
    if (rows.contains(path[t])) continue;
    const int step = to_int(t);
    rows[path[t]] = {rows_of(self, step, step + 1), rows_of(cross, step, cross.keys)};
  }
}

}  // namespace

SearchTreeTrace::SearchTreeTrace(const DecodeConfig& decode) {
  tree_.beams = decode.num_beams;
  tree_.length_penalty = decode.length_penalty;
}

void SearchTreeTrace::step(Index, Index step, std::span<const Candidate> candidates) {
  std::vector<int> next;
  const float length = length_penalty_divisor(step + 1, tree_.length_penalty);
  for (std::size_t rank = 0; rank < candidates.size(); ++rank) {
    const Candidate& c = candidates[rank];
    if (c.log_prob < kNoBeam) continue;
    SearchNode node;
    node.parent = step == 0 ? -1 : running_.at(to_size(c.parent));
    node.step = to_int(step);
    node.id = c.token;
    node.sum = c.log_prob;
    node.log_prob = node.parent < 0 ? c.log_prob : c.log_prob - at(tree_.nodes, node.parent).sum;
    node.score = c.log_prob / length;
    node.kept = c.kept;
    // Only the first `beams` candidates may become results; a lower one that ends is dropped.
    node.ended = c.ended && rank < to_size(tree_.beams);
    if (c.kept) next.push_back(to_int(tree_.nodes.size()));
    tree_.nodes.push_back(std::move(node));
  }
  running_ = std::move(next);
}

void complete_tree(SearchTree& tree, int start, const Transformer& model,
                   const EncodedSource& source, const Tokenizer& tokenizer) {
  std::vector<bool> continued(tree.nodes.size(), false);
  for (const SearchNode& node : tree.nodes) {
    if (node.parent >= 0) at(continued, node.parent) = true;
  }
  // A step's rows depend only on its prefix, so they belong to the node whose children it creates.
  // The longest prefixes are first, because they include the shorter ones.
  std::map<int, std::pair<std::vector<float>, std::vector<float>>> rows;
  for (int node = to_int(tree.nodes.size()) - 1; node >= -1; --node) {
    const bool wanted = node < 0 || at(continued, node);
    if (wanted && !rows.contains(node))
      teacher_force_branch(tree, node, {model, source, start}, rows);
  }
  for (SearchNode& node : tree.nodes) {
    node.token = tokenizer.target_token(node.id);
    std::tie(node.decoder_self, node.cross) = rows.at(node.parent);
  }
}

}  // namespace attn
