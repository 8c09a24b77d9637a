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

/// What one head computed for one sentence; H heads stand in HeadNumbers of their own.
struct HeadNumbers {
  float scale = 1;
  Matrix query;           ///< [L, K]
  Matrix key;             ///< [S, K]
  Matrix value;           ///< [S, K]
  Matrix scores;          ///< [L, S] scaled, before the mask
  Matrix distances = {};  ///< [L, S] what relative positions add; empty: nothing
  Matrix mask;            ///< [L, S] 0, a pattern's bias, or −∞
  Matrix weights;         ///< [L, S]
  Matrix output;          ///< [L, K]
  OutsideWeights<std::vector<float>> outside = {};  ///< as AttentionHead has it
  std::vector<Index> own_projections = {};          ///< as AttentionHead has it

  /// [L, S] what softmax reads.
  Matrix masked() const {
    if (distances.size() == 0) return scores + mask;
    return scores + distances + mask;
  }
  /// Whether a query, its keys and values come from projections that are not among these numbers.
  bool has_own_projections(Index row) const {
    return std::find(own_projections.begin(), own_projections.end(), row) != own_projections.end();
  }
};

/// Keeps copies of every stage and head of a forward pass over one sentence.
class StageCollector : public AttentionObserver {
 public:
  void weights_ready(AttentionHead& head) override;
  void output_ready(const AttentionHead& head) override;
  void stage_ready(const StageView& view) override;

  /// std::logic_error where the pass did not come by there.
  const Matrix& at(AttentionKind kind, int layer, Stage stage) const;
  bool has(AttentionKind kind, int layer, Stage stage) const;
  const HeadNumbers& head(AttentionKind kind, int layer, int head) const;

 private:
  std::map<std::tuple<AttentionKind, Index, Stage>, Matrix> stages_;
  std::map<std::tuple<AttentionKind, Index, Index>, HeadNumbers> heads_;
};

}  // namespace attn
