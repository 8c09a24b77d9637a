// Global tokens that a model brings itself (Pegasus-X): rows before each sentence's own, and an
// observer that does not see them.
#pragma once

#include "model/packed_tokens.h"
#include "nn/attention/attention_observer.h"

namespace attn {

/// Where the rows of a batch lie with `globals` more before each sentence. The ids of `tokens` are
/// not filled in.
struct GlobalRows {
  PackedTokens tokens;
  GlobalRows(const PackedTokens& source, Index globals);
};

/// Passes on what an observer would see if the sentences stood alone: of a head the sentence's own
/// queries and keys, so that the weights on global tokens are missing from its rows; of a stage the
/// sentences' rows. What it writes to the weights counts.
class WithoutGlobals : public AttentionObserver {
 public:
  /// All outlive this. `offsets` are the sentences' without the global rows.
  WithoutGlobals(AttentionObserver& observer, Index globals, const Offsets& offsets)
      : observer_(observer), globals_(globals), offsets_(offsets) {}

  void weights_ready(AttentionHead& head) override;
  void output_ready(const AttentionHead& head) override;
  void step_begins(Index position) override { observer_.step_begins(position); }
  void stage_ready(const StageView& view) override;

 private:
  template <typename Action>
  void pass(const AttentionHead& head, Action&& action) const;

  AttentionObserver& observer_;
  Index globals_;
  const Offsets& offsets_;
};

}  // namespace attn
