// The interface of observers, which see a head's numbers and may change them. Records, explanations
// and what-if experiments are observers.
#pragma once

#include <span>
#include <vector>

#include "base/at.h"
#include "compute/tensor.h"
#include "config/attention_site.h"
#include "config/patterns/pattern_cells.h"

namespace attn {

/// Linformer's projections of a sentence's keys and values: projected row c is Σ_j entry(j, c) ·
/// row j.
struct LinformerMatrices {
  Matrix keys;    ///< [S, k] E's rows for the sentence, 0 for padding keys
  Matrix values;  ///< [S, k] F's rows for the sentence
};

/// The rows of a head's weights that an observer has changed. The others keep every bit.
class ChangedRows {
 public:
  void add(Index row) {
    if (std::ssize(rows_) <= row) rows_.resize(to_size(row) + 1, false);
    rows_[to_size(row)] = true;
  }
  void add_all() { all_ = true; }
  bool any() const { return all_ || !rows_.empty(); }
  bool has(Index row) const { return all_ || (row < std::ssize(rows_) && rows_[to_size(row)]); }

 private:
  bool all_ = false;
  std::vector<bool> rows_;
};

/// One head of one sentence while it is computed. The matrices exist only during the call.
struct AttentionHead {
  AttentionSite site = AttentionSite::encoder_self;
  Index layer = 0;
  Index head = 0;
  Index sentence = 0;  ///< index in the batch
  float scale = 1.0F;  ///< 1/√head_dim, or 1 if the model does not scale

  Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> query;  ///< [L, K]
  const Matrix& key;                                        ///< [S, K]
  const Matrix& value;                                      ///< [S, K]
  const Matrix& scores;  ///< [L, S] query · keyᵀ · scale, before the mask; empty, like mask, if the
                         ///< observer does not read scores
  const Matrix& mask;  ///< [L, S] 0 or a pattern's bias for keys that a query may see, else −∞
  MatrixRef weights;  ///< [L, S] softmax(scores + relative position bias + mask); rows sum to 1. An
                      ///< observer that writes to them must mark the rows in `changed`. Weights
                      ///< where the mask is −∞ are ignored
  MatrixRef output;   ///< [L, K] weights · value, with which the model continues

  const PatternCells* seen =
      nullptr;  ///< the cells that a pattern computes; null: there is no pattern
  NonTokenWeights<std::span<float>> non_token_weights =
      {};  ///< [L] the weight on keys that are not rows of `key`; an observer may write to them
           ///< like `weights`
  std::span<const Index> global_projection_queries =
      {};  ///< queries of global tokens that LED projects by matrices of their own: those queries,
           ///< and their keys and values, are in none of the matrices here

  std::span<const float> relative_bias =
      {};  ///< [2S − 1] relative position bias, added to a score by key − query + S − 1; empty:
           ///< none. Queries have the last positions of the keys
  const LinformerMatrices* mixing =
      nullptr;                         ///< linformer: `key` and `value` are k mixtures, and S is k
  const LshBuckets* hashes = nullptr;  ///< lsh; `key` is the normalized query, and `mask` contains
                                       ///< the logarithm of how often two tokens have met
  bool is_estimate = false;  ///< performer: weights are those implied by its features, an estimate
                             ///< of softmax(scores + mask)
  ChangedRows changed =
      {};  ///< rows of `weights` or `non_token_weights` that an observer has written to
};

/// The stages of the rows in a stack.
enum class Stage {
  embedded,  ///< [T, D] tokens · scale + positions (normalized if the model has an embedding norm)
  block_input,   ///< [T, D] what the residual connection carries past a block
  normed_input,  ///< [T, D] norm(block_input), in pre-norm models only
  projected,     ///< [T, 3D] queries, keys and values side by side; cross: only queries, [T, D]
  memory,        ///< [S, 2D] cross-attention only: keys and values of the encoder's rows
  heads,         ///< [T, D] the outputs of all heads side by side
  attn_output,   ///< [T, D] after the output projection
  block_sum,     ///< [T, D] block_input + attn_output
  block_output,  ///< [T, D] norm(block_sum) in post-norm models, block_sum in pre-norm ones
  feed_forward_normed,  ///< [T, D] norm(block_output), in pre-norm models only
  feed_forward_hidden,  ///< [T, F] activation(x · W₁ + b₁)
  feed_forward_output,  ///< [T, D] hidden · W₂ + b₂, which the feed-forward block adds
  feed_forward_sum,     ///< [T, D] the block's input + feed_forward_output
  layer_output,         ///< [T, D] after the feed-forward block, the next layer's input
  stack_output,         ///< [T, D] after the last layer (and the final norm, if there is one)
};

/// A matrix of a whole batch, which exists only during the call. `site` and `layer` name its
/// block; outside blocks, site is the stack's self-attention.
struct StageView {
  AttentionSite site = AttentionSite::encoder_self;
  Index layer = 0;
  Stage stage = Stage::embedded;
  ConstMatrixRef rows;
  /// The same rows, for an observer that changes them: the model continues with the new values.
  /// Null if the model does not read the rows again (`memory`, `feed_forward_hidden`).
  MatrixRef* writable = nullptr;
};

/// Attention calls the first two methods for every head, in the order sentence, head. A null
/// observer costs nothing. With an observer, the model's numbers are the same to the bit unless
/// weights are changed. The weights shown are computed separately, by lib/paper in double from the
/// head's queries, keys and values.
class AttentionObserver {
 public:
  virtual ~AttentionObserver() = default;

  /// True if the observer reads `scores` and `mask`. If not, they are not stored: for 8,192 tokens
  /// each takes a quarter of a gigabyte.
  virtual bool reads_scores() const { return true; }

  /// True if the observer wants this head. With exact attention, other heads are not shown and
  /// cost nothing.
  virtual bool watches(AttentionSite /*kind*/, Index /*layer*/, Index /*head*/) const {
    return true;
  }

  /// Shows the head's weights, and the output that the model computed. The observer may change
  /// weights: the model continues with the rows marked in `changed`.
  virtual void weights_ready(AttentionHead& head) = 0;

  /// Shows the head's output, computed from the weights as weights_ready() left them.
  virtual void output_ready(const AttentionHead& /*head*/) {}

  /// A cached decoder calls this before each step: all queries that follow are at this position of
  /// their sentences. Without this call, as for whole sentences, query i is at position i.
  virtual void step_begins(Index /*position*/) {}

  /// Shows the rows at a stage between the layers' computations. The observer may change
  /// `writable`.
  virtual void stage_ready(const StageView& /*view*/) {}
};

/// Combines two observers: the second sees what the first one left.
class ObserverPair : public AttentionObserver {
 public:
  /// `first` may be null.
  ObserverPair(AttentionObserver* first, AttentionObserver& second)
      : first_(first), second_(second) {}

  bool reads_scores() const override {
    return (first_ != nullptr && first_->reads_scores()) || second_.reads_scores();
  }
  bool watches(AttentionSite site, Index layer, Index head) const override {
    return (first_ != nullptr && first_->watches(site, layer, head)) ||
           second_.watches(site, layer, head);
  }
  void weights_ready(AttentionHead& head) override {
    if (first_ != nullptr) first_->weights_ready(head);
    second_.weights_ready(head);
  }
  void output_ready(const AttentionHead& head) override {
    if (first_ != nullptr) first_->output_ready(head);
    second_.output_ready(head);
  }
  void step_begins(Index position) override {
    if (first_ != nullptr) first_->step_begins(position);
    second_.step_begins(position);
  }
  void stage_ready(const StageView& view) override {
    if (first_ != nullptr) first_->stage_ready(view);
    second_.stage_ready(view);
  }

 private:
  AttentionObserver* first_;
  AttentionObserver& second_;
};

}  // namespace attn
