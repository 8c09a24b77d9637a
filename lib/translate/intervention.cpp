#include "translate/intervention.h"

#include <algorithm>

#include "base/at.h"

namespace attn {

bool Intervention::watches(AttentionSite site, Index layer, Index head) const {
  if (next_ != nullptr && next_->watches(site, layer, head)) return true;
  const auto off = [&](const AblatedHead& s) {
    return s.site == site && s.layer == layer && (!s.head || *s.head == head);
  };
  const auto forced = [&](const ForcedWeight& f) {
    return f.site == site && f.layer == layer && f.head == head;
  };
  return std::ranges::any_of(without_, off) || std::ranges::any_of(forced_, forced);
}

void Intervention::weights_ready(AttentionHead& head) {
  for (const AblatedHead& off : without_) {
    const bool here = off.site == head.site && off.layer == head.layer;
    if (!here || (off.head && *off.head != head.head)) continue;
    head.changed.add_all();
    head.weights.setZero();
    std::fill(head.non_token_weights.weights.begin(), head.non_token_weights.weights.end(), 0.0F);
  }
  for (const ForcedWeight& f : forced_) {
    if (f.site != head.site || f.layer != head.layer || f.head != head.head) continue;
    if (f.key >= head.weights.cols()) continue;
    const bool by_step = position_ && head.site != AttentionSite::encoder_self;
    for (Index row = 0; row < head.weights.rows(); ++row) {
      if ((by_step ? *position_ : row) != f.query) continue;
      head.changed.add(row);
      head.weights.row(row).setZero();
      head.weights(row, f.key) = 1;
      if (head.non_token_weights.any()) at(head.non_token_weights.weights, row) = 0;
    }
  }
  if (next_ != nullptr) next_->weights_ready(head);
}

void Intervention::output_ready(const AttentionHead& head) {
  if (next_ != nullptr) next_->output_ready(head);
}

void Intervention::step_begins(Index position) {
  position_ = position;
  if (next_ != nullptr) next_->step_begins(position);
}

void Intervention::stage_ready(const StageView& view) {
  if (next_ != nullptr) next_->stage_ready(view);
}

}  // namespace attn
