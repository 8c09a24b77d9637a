// Decoding step by step, with the keys and values of past steps kept: a step costs one row a
// hypothesis and never recomputes the past.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/layers.h"
#include "model/transformer.h"

namespace attn {

/// The decoder's memory for one batch of sentences with up to `rows` hypotheses at a time.
///
/// Beams fork and die, so a hypothesis's past is scattered over the rows that its ancestors had.
/// Keys and values stay where they were written; each hypothesis carries the list of its ancestors'
/// rows, and attention gathers by it. Re-ordering beams moves a few integers and no key or value.
/// What is kept is the kind of attention's own business (AttentionMethod::step_memory): where all
/// layers look through windows, a step takes the rows of one that nobody sees any more, and
/// performers keep sums of one size. An observer sees keys, so that with one they are kept.
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

  /// Bytes of cache that a batch takes: keys and values of `rows` hypotheses over `steps` steps,
  /// and of `source_rows` encoder rows, for all layers.
  static std::uint64_t cache_bytes(const ModelConfig& config, Index rows, Index steps,
                                   Index source_rows);

 private:
  void follow_parents(std::span<const Index> parents, Index n);
  void make_groups(std::span<const Index> sentences);

  const Transformer& model_;
  const EncodedSource& source_;
  AttentionObserver* observer_;
  Index rows_;
  Index steps_;
  Index step_ = 0;
  StackDistances distances_;
  std::unique_ptr<StepMemory> past_;     ///< of self-attention, all layers
  std::vector<Matrix> source_memory_;    ///< per layer [S, 2I]
  std::vector<std::int32_t> ancestors_;  ///< [rows, steps]: cache rows of each hypothesis's past
  std::vector<std::int32_t> next_ancestors_;  ///< the other of the two, swapped at each step
  std::vector<AttentionGroup> self_groups_;
  std::vector<AttentionGroup> cross_groups_;
  std::vector<Index> positions_;
  Matrix x_;       ///< [rows, D]
  Matrix logits_;  ///< [rows, V]
  Workspace work_;
};

}  // namespace attn
