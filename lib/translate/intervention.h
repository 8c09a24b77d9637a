// Interventions: disabled heads, and weights that are replaced while the model runs.
#pragma once

#include <optional>
#include <vector>

#include "nn/attention/attention_observer.h"

namespace attn {

/// A head, or all heads of a layer.
struct AblatedHead {
  AttentionSite site = AttentionSite::cross;
  int layer = 0;
  std::optional<int> head;
};

/// Puts the whole weight of one query of one head on one key. Positions count from 0 in the
/// query's and the key's sequence (decoder: 0 is the start symbol's row).
struct ForcedWeight {
  AttentionSite site = AttentionSite::cross;
  int layer = 0;
  int head = 0;
  int query = 0;
  int key = 0;
};

/// Changes weights while the model runs. The weights and the output of a disabled head are 0, as
/// in Michel et al. 2019. A forced row is 1 at its key and 0 elsewhere; a query or key that the
/// sentence does not have is ignored.
class Intervention : public AttentionObserver {
 public:
  /// `then` observes each head after its change; null: no observer.
  Intervention(std::vector<AblatedHead> without, std::vector<ForcedWeight> forced,
               AttentionObserver* next = nullptr)
      : without_(std::move(without)), forced_(std::move(forced)), next_(next) {}

  bool reads_scores() const override { return next_ != nullptr && next_->reads_scores(); }
  bool watches(AttentionSite site, Index layer, Index head) const override;
  void weights_ready(AttentionHead& head) override;
  void output_ready(const AttentionHead& head) override;
  void step_begins(Index position) override;
  void stage_ready(const StageView& view) override;

 private:
  std::vector<AblatedHead> without_;
  std::vector<ForcedWeight> forced_;
  AttentionObserver* next_;
  std::optional<Index> position_;  ///< position of every query, in a cached decoder's step
};

}  // namespace attn
