// Decoding step by step, with the keys and values of past steps kept: a step costs one row a
// hypothesis and never recomputes the past.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/transformer.h"

namespace attn {

/// The decoder's memory for one batch of sentences with up to `rows` hypotheses at a time.
///
/// Beams fork and die, so a hypothesis's past is scattered over the rows that its ancestors had.
/// Keys and values stay where they were written (row `step · rows + r` of the cache); each
/// hypothesis carries the list of its ancestors' rows, and attention gathers by it. Re-ordering
/// beams moves a few integers and no key or value.
class IncrementalDecoder {
 public:
  /// Projects the encoder's output to every layer's cross-attention keys and values, once, and
  /// allocates everything that steps need. `rows`: most hypotheses at a time; `steps`: most tokens
  /// a hypothesis. MemoryError where the cache would not fit. A null observer is off.
  IncrementalDecoder(const Transformer& model, const EncodedSource& source, Index rows, Index steps,
                     AttentionObserver* observer = nullptr);

  /// One token for each hypothesis. Row r continues row parents[r] of the step before (ignored at
  /// the first step) and belongs to sentence sentences[r]. tokens, parents, sentences: n ≤ rows of
  /// them. Returns logits [n, V], valid until the next step.
  MatrixRef step(std::span<const int> tokens, std::span<const Index> parents,
                 std::span<const Index> sentences);

  Index steps_done() const { return step_; }

  /// Bytes of cache that a batch takes: keys and values of `rows` hypotheses over `steps` steps,
  /// and of `source_rows` encoder rows, for all layers.
  static std::uint64_t cache_bytes(const ModelConfig& config, Index rows, Index steps,
                                   Index source_rows);

 private:
  void follow_parents(std::span<const Index> parents, Index n);
  void make_groups(std::span<const Index> sentences);
  void run_layer(std::size_t layer, MatrixRef x);

  const Transformer& model_;
  const EncodedSource& source_;
  AttentionObserver* observer_;
  Index rows_;
  Index steps_;
  Index step_ = 0;
  std::vector<AlignedFloats> cache_;     ///< per layer [steps · rows, 2D]: key, then value
  std::vector<Matrix> cross_;            ///< per layer [source rows, 2D]
  std::vector<std::int32_t> ancestors_;  ///< [rows, steps]: cache rows of each hypothesis's past
  std::vector<std::int32_t> next_ancestors_;  ///< the other of the two, swapped at each step
  std::vector<AttentionGroup> self_groups_;
  std::vector<AttentionGroup> cross_groups_;
  std::vector<Index> positions_;
  Matrix x_;
  Matrix logits_;
  Workspace work_;
};

}  // namespace attn
