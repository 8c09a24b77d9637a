// Global tokens: those that a model adds as rows before each sentence (Pegasus-X), an observer that
// hides them, and global tokens with separate projections (LED).
#pragma once

#include <span>

#include "compute/parameter.h"
#include "model/packed_tokens.h"
#include "nn/attention/attention_observer.h"
#include "nn/attention/multi_head_attention.h"
#include "nn/layer_norm.h"

namespace attn {

/// Of x [T, D] the rows before each sentence through a norm of their own → the same rows of
/// `normal`.
void norm_global_rows(const LayerNorm& norm, std::span<const AttentionGroup> groups,
                      const ConstMatrixRef& x, MatrixRef normal);

/// Where the rows of a batch lie with G global tokens' rows before each sentence's.
class GlobalTokenRows {
 public:
  GlobalTokenRows(const PackedTokens& source, Index globals);

  Index rows() const { return tokens_.offsets.back(); }  ///< S + B·G
  /// Every sentence looks at itself and its global tokens; they refer to this object.
  std::vector<AttentionGroup> groups() const;
  /// Calls f(first row of sentence b with its globals, of its own tokens among them, its length).
  template <typename F>
  void for_each(F&& f) const {
    for (Index b = 0; b < tokens_.sentences(); ++b) {
      const Index first = at(tokens_.offsets, b);
      f(first, first - b * globals(), tokens_.length(b) - globals());
    }
  }
  /// The sentences' rows [S, D] with `global_tokens` [G, D] before each → `all` [S + B·G, D].
  void prepend(const Parameter& global_tokens, const ConstMatrixRef& sentences,
               MatrixRef all) const;
  /// The sentences' rows to their places among `all`; global tokens' rows stay.
  void scatter(const ConstMatrixRef& sentences, MatrixRef all) const;
  /// The sentences' rows among `all`.
  void gather(const ConstMatrixRef& all, MatrixRef sentences) const;
  Index globals() const { return std::ssize(positions_); }
  Index sentences() const { return tokens_.sentences(); }

 private:
  PackedTokens tokens_;           ///< its ids are not filled in
  std::vector<Index> positions_;  ///< 0 … G − 1
};

/// Passes on what an observer would see if the sentences stood alone: of a head the sentence's own
/// queries and keys, so that the weights on global tokens are missing from its rows and stand in
/// `outside`; of a stage the sentences' rows. What it writes to the weights and to `outside`
/// counts; where it leaves nothing of a head, the global tokens' rows get nothing either.
class GlobalTokenFilter : public AttentionObserver {
 public:
  /// All outlive this. `offsets` are the sentences' without the global rows.
  GlobalTokenFilter(AttentionObserver& observer, Index globals, const Offsets& offsets)
      : observer_(observer), globals_(globals), offsets_(offsets) {}

  bool reads_scores() const override { return observer_.reads_scores(); }
  bool watches(AttentionSite site, Index layer, Index head) const override {
    return observer_.watches(site, layer, head);
  }
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

/// Projects the rows `x` [T, D] that a self-attention reads with the separate matrices of global
/// tokens (LED). `work` becomes [T, 3D] = Q | K | V, and the result points into it. Only global
/// tokens get a query.
GlobalProjections project_global_tokens(const MultiHeadAttention& layer,
                                        std::span<const AttentionGroup> groups,
                                        const ConstMatrixRef& x, Matrix& work);

}  // namespace attn
