#include "translate/intervention.h"

#include <algorithm>

#include "base/at.h"

namespace attn {

bool Intervention::watches(AttentionKind kind, Index layer, Index head) const {
  if (then_ != nullptr && then_->watches(kind, layer, head)) return true;
  const auto off = [&](const HeadSwitch& s) {
    return s.kind == kind && s.layer == layer && (!s.head || *s.head == head);
  };
  const auto forced = [&](const ForcedWeight& f) {
    return f.kind == kind && f.layer == layer && f.head == head;
  };
  return std::ranges::any_of(without_, off) || std::ranges::any_of(forced_, forced);
}

void Intervention::weights_ready(AttentionHead& head) {
  for (const HeadSwitch& off : without_) {
    const bool here = off.kind == head.kind && off.layer == head.layer;
    if (!here || (off.head && *off.head != head.head)) continue;
    head.changed.add_all();
    head.weights.setZero();
    std::fill(head.outside.weights.begin(), head.outside.weights.end(), 0.0F);
  }
  for (const ForcedWeight& f : forced_) {
    if (f.kind != head.kind || f.layer != head.layer || f.head != head.head) continue;
    if (f.key >= head.weights.cols()) continue;
    const bool by_step = position_ && head.kind != AttentionKind::encoder_self;
    for (Index row = 0; row < head.weights.rows(); ++row) {
      if ((by_step ? *position_ : row) != f.query) continue;
      head.changed.add(row);
      head.weights.row(row).setZero();
      head.weights(row, f.key) = 1;
      if (head.outside.any()) at(head.outside.weights, row) = 0;
    }
  }
  if (then_ != nullptr) then_->weights_ready(head);
}

void Intervention::output_ready(const AttentionHead& head) {
  if (then_ != nullptr) then_->output_ready(head);
}

void Intervention::step_begins(Index position) {
  position_ = position;
  if (then_ != nullptr) then_->step_begins(position);
}

void Intervention::stage_ready(const StageView& view) {
  if (then_ != nullptr) then_->stage_ready(view);
}

}  // namespace attn
