// The observer behind explanations: it keeps what one attention layer read, computed and wrote.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "base/at.h"
#include "nn/attention/attention_observer.h"

namespace attn {

/// What one head computed for one sentence; H heads stand in HeadActivations of their own.
struct HeadActivations {
  float scale = 1;
  Matrix query;           ///< [L, K]
  Matrix key;             ///< [S, K]
  Matrix value;           ///< [S, K]
  Matrix scores;          ///< [L, S] scaled, before the mask
  Matrix relative_bias = {};  ///< [L, S] what relative positions add; empty: nothing
  Matrix mask;            ///< [L, S] 0, a pattern's bias, or −∞
  Matrix weights;         ///< [L, S]
  Matrix output;          ///< [L, K]
  NonTokenWeights<std::vector<float>> non_token_weights = {};  ///< as AttentionHead has it
  std::vector<Index> global_projection_queries = {};          ///< as AttentionHead has it

  /// [L, S] what softmax reads.
  Matrix masked() const {
    if (relative_bias.size() == 0) return scores + mask;
    return scores + relative_bias + mask;
  }
  /// Whether a query, its keys and values come from projections that are not among these numbers.
  bool has_own_projections(Index row) const {
    return std::find(global_projection_queries.begin(), global_projection_queries.end(), row) != global_projection_queries.end();
  }
};

/// Keeps copies of every stage and head of a forward pass over one sentence.
class ActivationCollector : public AttentionObserver {
 public:
  void weights_ready(AttentionHead& head) override;
  void output_ready(const AttentionHead& head) override;
  void stage_ready(const StageView& view) override;

  /// std::logic_error where the pass did not come by there.
  const Matrix& at(AttentionSite site, int layer, Stage stage) const;
  bool has(AttentionSite site, int layer, Stage stage) const;
  const HeadActivations& head(AttentionSite site, int layer, int head) const;

 private:
  std::map<std::tuple<AttentionSite, Index, Stage>, Matrix> stages_;
  std::map<std::tuple<AttentionSite, Index, Index>, HeadActivations> heads_;
};

}  // namespace attn
