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

/// Applies a separate norm to the global rows of x [T, D], which precede each sentence, and writes
/// them to the same rows of `normal`.
void norm_global_rows(const LayerNorm& norm, std::span<const AttentionGroup> groups,
                      const ConstMatrixRef& x, MatrixRef normal);

/// The row layout of a batch with G global rows before each sentence.
class GlobalTokenRows {
 public:
  GlobalTokenRows(const PackedTokens& source, Index globals);

  Index rows() const { return tokens_.offsets.back(); }  ///< S + B·G
  /// Returns groups in which every sentence attends to itself and its global tokens. They point
  /// into this object.
  std::vector<AttentionGroup> groups() const;
  /// Calls f(first row of sentence b in the full layout, its first row without global tokens, its
  /// length).
  template <typename F>
  void for_each(F&& f) const {
    for (Index b = 0; b < tokens_.sentences(); ++b) {
      const Index first = at(tokens_.offsets, b);
      f(first, first - b * globals(), tokens_.length(b) - globals());
    }
  }
  /// Copies the sentences' rows [S, D], each sentence preceded by `global_tokens` [G, D], to `all`
  /// [S + B·G, D].
  void prepend(const Parameter& global_tokens, const ConstMatrixRef& sentences,
               MatrixRef all) const;
  /// Copies the sentences' rows to their positions in `all`; global rows are unchanged.
  void scatter(const ConstMatrixRef& sentences, MatrixRef all) const;
  /// Copies the sentences' rows out of `all`.
  void gather(const ConstMatrixRef& all, MatrixRef sentences) const;
  Index globals() const { return std::ssize(positions_); }
  Index sentences() const { return tokens_.sentences(); }

 private:
  PackedTokens tokens_;           ///< its ids are not filled in
  std::vector<Index> positions_;  ///< 0 … G − 1
};

/// Shows an observer the attention as if there were no global tokens. For heads it passes on each
/// sentence's own queries and keys, so weights on global tokens are missing from the rows and are
/// summed in `outside`. For stages it passes on the sentences' rows. Changes that the observer
/// makes to the weights and to `outside` take effect. If the observer clears a head, the global
/// rows are cleared too.
class GlobalTokenFilter : public AttentionObserver {
 public:
  /// All arguments must outlive this object. `offsets` are the sentences' offsets without global
  /// rows.
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
