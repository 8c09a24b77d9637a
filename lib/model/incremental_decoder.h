// Step-by-step decoding with a KV cache: a step computes one row per hypothesis and never
// recomputes the past.
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

/// The resources that a sentence needs in a decoder.
struct SlotSize {
  Index hypotheses = 1;  ///< maximum number at a time
  Index steps = 1;       ///< maximum tokens of each
};

/// Decodes sentences that join and leave between steps. Each has its own slot and position, and its
/// results depend on no other sentence.
///
/// Beams fork and die, so the past of a hypothesis is scattered over its ancestors' rows. Keys and
/// values stay where they were written, in rows that a sentence allocates step by step and releases
/// when it leaves. Each hypothesis keeps a list of its ancestors' rows, through which attention
/// gathers. Reordering beams moves a few integers and no keys or values. The attention pattern
/// decides what is cached (PatternAttention::make_kv_cache): if all layers use windows, a step
/// reuses a row that has left the window; performers keep sums of constant size. With an observer,
/// keys are always kept.
class IncrementalDecoder {
 public:
  /// `observer` may be null; with an observer, all sentences must join before the first step.
  explicit IncrementalDecoder(const Transformer& model, AttentionObserver* observer = nullptr);

  /// Adds encoded sentences, which begin at the next step, with the maximum size of each. Projects
  /// them once to the cross-attention keys and values of every layer. Returns their slots, the
  /// lowest free ones. Throws MemoryError if the cache has no room for them.
  std::vector<Index> add_sentences(const EncodedSource& source, std::span<const SlotSize> sizes);

  /// Releases a sentence's slot and rows.
  void remove_sentence(Index slot);

  /// Decodes one token per hypothesis; the hypotheses of a sentence are adjacent. Row r belongs to
  /// slot slots[r] and, except at the sentence's first step, continues row parents[r] of the
  /// previous step. Every sentence takes part in every step from its first to its last. Returns
  /// logits [n, V], valid until the next step.
  MatrixRef step(std::span<const int> tokens, std::span<const Index> parents,
                 std::span<const Index> slots);

  /// Returns the cache size of a batch in bytes, over all layers: keys and values of `rows`
  /// hypotheses over `steps` steps, and of `source_rows` encoder rows.
  static std::uint64_t cache_bytes(const ModelConfig& config, Index rows, Index steps,
                                   Index source_rows);

 private:
  struct Slot {
    bool taken = false;
    SlotSize size;
    Index length = 0;             ///< tokens per hypothesis so far
    Index last_row = 0;           ///< first of its rows in the previous step
    std::vector<Index> key_rows;  ///< first key row of each cached position; −1: none yet
    Index first_source = 0, source_rows = 0;
    std::vector<std::uint8_t> key_padding_mask;  ///< for the source, as in PackedTokens
    std::vector<std::int32_t> ancestors;         ///< [hypotheses, steps]: rows of each one's past
    std::vector<std::int32_t> next_ancestors;    ///< swapped with `ancestors` at each step
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
  Index reserved_positions_ = 0;             ///< positions that these reach
  std::unique_ptr<KvCache> kv_cache_;        ///< self-attention, all layers
  std::vector<GrowableMatrix> cross_cache_;  ///< per layer [S, 2I']
  RowAllocator self_rows_, source_rows_;     ///< allocation of rows in both caches
  std::deque<Slot> slots_;
  std::vector<Index> parents_;  ///< parent of each row of this step; −1 at a sentence's start
  std::vector<std::int32_t> cache_rows_;  ///< cache rows that they write
  std::vector<Index> positions_;          ///< their positions
  std::vector<AttentionGroup> self_groups_;
  std::vector<AttentionGroup> cross_groups_;
  Matrix x_;       ///< [maximum rows, D]
  Matrix logits_;  ///< [maximum rows, V]
  Workspace work_;
};

}  // namespace attn
