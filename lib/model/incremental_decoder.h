// Decoding step by step, with the keys and values of past steps kept: a step costs one row a
// hypothesis and never recomputes the past.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "compute/buffer.h"
#include "model/layers.h"
#include "model/row_allocator.h"
#include "model/transformer.h"

namespace attn {

/// What a sentence takes of a decoder.
struct SlotSize {
  Index hypotheses = 1;  ///< most at a time
  Index steps = 1;       ///< most tokens of each
};

/// The decoder's memory for sentences that come and go between its steps, each in a slot, and each
/// at a place of its own: what a step computes of a sentence depends on no other.
///
/// Beams fork and die, so a hypothesis's past is scattered over the rows that its ancestors had.
/// Keys and values stay where they were written, in rows that the sentence takes step by step and
/// gives back when it leaves; each hypothesis carries the list of its ancestors' rows, and
/// attention gathers by it. Re-ordering beams moves a few integers and no key or value. What is
/// kept is the kind of attention's own business (PatternAttention::make_kv_cache): where all layers
/// look through windows, a step takes the rows of one that nobody sees any more, and performers
/// keep sums of one size. An observer sees keys, so that with one they are kept.
class IncrementalDecoder {
 public:
  /// A null observer is off; with one, all sentences join before the first step.
  explicit IncrementalDecoder(const Transformer& model, AttentionObserver* observer = nullptr);

  /// Takes encoded sentences in, which the next step begins; of each what it takes at most.
  /// Projects them to every layer's cross-attention keys and values, once. Returns their slots: the
  /// lowest that are free. MemoryError where the cache has no room for them.
  std::vector<Index> add_sentences(const EncodedSource& source, std::span<const SlotSize> sizes);

  /// Gives a sentence's slot and rows to others.
  void remove_sentence(Index slot);

  /// One token for each hypothesis, those of a sentence side by side. Row r belongs to slot
  /// slots[r] and continues row parents[r] of the step before, but at its sentence's first step.
  /// Every sentence takes part in every step from its first to its last. Returns logits [n, V],
  /// valid until the next step.
  MatrixRef step(std::span<const int> tokens, std::span<const Index> parents,
                 std::span<const Index> slots);

  /// Bytes of cache that a batch takes: keys and values of `rows` hypotheses over `steps` steps,
  /// and of `source_rows` encoder rows, for all layers.
  static std::uint64_t cache_bytes(const ModelConfig& config, Index rows, Index steps,
                                   Index source_rows);

 private:
  struct Slot {
    bool taken = false;
    SlotSize size;
    Index length = 0;             ///< tokens that its hypotheses have
    Index last_row = 0;           ///< the first of its rows in the step before
    std::vector<Index> key_rows;  ///< of each place that is kept its first row of keys; −1: not yet
    Index first_source = 0, source_rows = 0;
    std::vector<std::uint8_t> key_padding_mask;  ///< of the source, as in PackedTokens
    std::vector<std::int32_t> ancestors;         ///< [hypotheses, steps]: rows of each one's past
    std::vector<std::int32_t> next_ancestors;    ///< the other of the two, swapped at each step
  };

  Index free_slot();
  void fill_slot(Slot& slot, const EncodedSource& source, std::size_t b, const SlotSize& size);
  void reserve_for(std::span<const SlotSize> sizes);
  void reserve(Index rows);
  Index row_of_position(Slot& slot);
  void assign_rows(std::span<const Index> parents, std::span<const Index> slots);
  void assign_slot_rows(Slot& slot, Index first, std::span<const Index> parents);
  void add_groups(Index slot, Index first, Index rows);

  const Transformer& model_;
  AttentionObserver* observer_;
  AttentionPositionEncoding position_encoding_;
  Index reserved_positions_ = 0;             ///< that those reach
  std::unique_ptr<KvCache> kv_cache_;        ///< of self-attention, all layers
  std::vector<GrowableMatrix> cross_cache_;  ///< per layer [S, 2I']
  RowAllocator self_rows_, source_rows_;     ///< who has which rows of both
  std::deque<Slot> slots_;
  std::vector<Index> parents_;            ///< of this step's rows, −1 where a sentence begins
  std::vector<std::int32_t> cache_rows_;  ///< rows of the memory that they take
  std::vector<Index> positions_;          ///< their places
  std::vector<AttentionGroup> self_groups_;
  std::vector<AttentionGroup> cross_groups_;
  Matrix x_;       ///< [most rows, D]
  Matrix logits_;  ///< [most rows, V]
  Workspace work_;
};

}  // namespace attn
