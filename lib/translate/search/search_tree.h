// The tree of a beam search, with the attention of every step: recorded by a trace, and completed
// by running each branch once more.
#pragma once

#include "config/decode_config.h"
#include "model/transformer.h"
#include "record/attention_record.h"
#include "text/tokenizer.h"
#include "translate/search/search.h"

namespace attn {

/// Collects the candidates of the search for one sentence.
class SearchTreeTrace : public SearchTrace {
 public:
  explicit SearchTreeTrace(const DecodeConfig& decode);

  void step(Index sentence, Index step, std::span<const Candidate> candidates) override;

  /// Returns the nodes, without the text of their tokens and without maps.
  SearchTree take() { return std::move(tree_); }

 private:
  SearchTree tree_;
  std::vector<int> running_;  ///< node of each running hypothesis, by row
};

/// Names the nodes' tokens and gives each node the attention rows of its step. Branches are run
/// again from the decoder's `start`, over the encoded source, which contains only this sentence.
void complete_tree(SearchTree& tree, int start, const Transformer& model,
                   const EncodedSource& source, const Tokenizer& tokenizer);

}  // namespace attn
