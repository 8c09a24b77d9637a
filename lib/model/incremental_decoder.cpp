#include "model/incremental_decoder.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/at.h"
#include "base/error.h"
#include "nn/attention/patterns/pattern_attention.h"

namespace attn {
namespace {

KvCacheShape kv_cache_shape(const ModelConfig& config) {
  return {config.decoder_attention, config.decoder_layers, config.decoder_kv_heads(),
          config.decoder_head_dim()};
}

/// Returns the cache of the decoder's attention pattern; with an observer, which needs keys, always
/// one that keeps keys.
std::unique_ptr<KvCache> make_decoder_cache(const ModelConfig& config, bool observed) {
  const KvCacheShape shape = kv_cache_shape(config);
  return observed ? make_exact_kv_cache(shape) : attention_for(shape.pattern).make_kv_cache(shape);
}

/// Throws MemoryError if the cache has more rows than 32-bit row numbers can address.
void check_rows(Index rows) {
  if (rows <= std::numeric_limits<std::int32_t>::max()) return;
  throw MemoryError(
      "{} keys and values at once are too many; choose a smaller batch, fewer beams or shorter "
      "translations",
      rows);
}

}  // namespace

std::uint64_t IncrementalDecoder::cache_bytes(const ModelConfig& config, Index rows, Index steps,
                                              Index source_rows) {
  const KvCacheShape shape = kv_cache_shape(config);
  const auto past = attention_for(shape.pattern).kv_cache_bytes(shape, rows, steps);
  const auto cross = checked_product({to_size(source_rows), 2 * to_size(config.decoder_kv_dim()),
                                      sizeof(float), to_size(config.decoder_layers)});
  if (!past || !cross) return std::numeric_limits<std::uint64_t>::max();
  return checked_add(*past, *cross).value_or(std::numeric_limits<std::uint64_t>::max());
}

IncrementalDecoder::IncrementalDecoder(const Transformer& model, AttentionObserver* observer)
    : model_(model),
      observer_(observer),
      kv_cache_(make_decoder_cache(model.config(), observer != nullptr)) {
  for (int layer = 0; layer < model.config().decoder_layers; ++layer) {
    cross_cache_.emplace_back(2 * model.config().decoder_kv_dim());
  }
}

Index IncrementalDecoder::free_slot() {
  const auto free = std::ranges::find(slots_, false, &Slot::taken);
  if (free != slots_.end()) return free - slots_.begin();
  slots_.emplace_back();
  return std::ssize(slots_) - 1;
}

std::vector<Index> IncrementalDecoder::add_sentences(const EncodedSource& source,
                                                     std::span<const SlotSize> sizes) {
  const Index source_rows = source.rows.rows();
  const Index first_source = source_rows_.allocate(source_rows);
  std::vector<Index> joined;
  try {
    for (std::size_t b = 0; b < sizes.size(); ++b) {
      const Index slot = free_slot();
      joined.push_back(slot);
      fill_slot(at(slots_, slot), source, b, sizes[b]);
      at(slots_, slot).first_source = first_source + source.offsets[b];
    }
    reserve_for(sizes);
    const std::vector<DecoderLayer>& layers = model_.parameters().decoder_layers;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      layers[i].cross_attention.kv_projection(source.rows,
                                              cross_cache_[i].part(first_source, source_rows));
    }
  } catch (...) {
    for (const Index slot : joined) at(slots_, slot).source_rows = 0;  // all are released together
    for (const Index slot : joined) remove_sentence(slot);
    source_rows_.release(first_source, source_rows);
    throw;
  }
  return joined;
}

/// Copies sentence `b` of `source` into a free slot.
void IncrementalDecoder::fill_slot(Slot& slot, const EncodedSource& source, std::size_t b,
                                   const SlotSize& size) {
  slot = Slot();
  slot.taken = true;
  slot.ancestors.resize(to_size(size.hypotheses * size.steps));
  slot.next_ancestors.resize(slot.ancestors.size());
  slot.source_rows = source.offsets[b + 1] - source.offsets[b];
  if (!source.key_padding_mask.empty()) {
    const auto first = source.key_padding_mask.begin() + source.offsets[b];
    slot.key_padding_mask.assign(first, first + slot.source_rows);
  }
  slot.key_rows.assign(to_size(kv_cache_->cached_steps(size.steps)), -1);
  slot.size = size;
}

/// Reserves memory for the sources that have joined and for the longest ones still possible; the
/// system only provides pages that are used.
void IncrementalDecoder::reserve_for(std::span<const SlotSize> sizes) {
  Index rows = self_rows_.rows();
  for (const SlotSize& size : sizes) rows += size.hypotheses * kv_cache_->cached_steps(size.steps);
  check_rows(rows);
  kv_cache_->reserve(rows);
  for (GrowableMatrix& memory : cross_cache_) memory.reserve(source_rows_.rows());
  const Index positions = std::ranges::max(sizes, {}, &SlotSize::steps).steps;
  if (positions <= reserved_positions_) return;
  position_encoding_ = AttentionPositionEncoding(model_.config(), model_.parameters().decoder,
                                                 model_.parameters().decoder_layers, positions);
  reserved_positions_ = positions;
}

void IncrementalDecoder::remove_sentence(Index number) {
  Slot& slot = at(slots_, number);
  for (const Index row : slot.key_rows) {
    if (row >= 0) self_rows_.release(row, slot.size.hypotheses);
  }
  source_rows_.release(slot.first_source, slot.source_rows);
  slot.taken = false;
}

void IncrementalDecoder::reserve(Index rows) {
  if (rows <= x_.rows()) return;
  const ModelConfig& config = model_.config();
  x_.resize(rows, config.d_model);
  logits_.resize(rows, config.decoder_vocab_size);
  work_.reserve(rows, config, /*encoder=*/false, observer_ != nullptr);
}

/// Returns the first of the rows that hold the sentence's keys and values at its current position.
Index IncrementalDecoder::row_of_position(Slot& slot) {
  Index& row = at(slot.key_rows, kv_cache_->cache_position(slot.length, std::ssize(slot.key_rows)));
  if (row < 0) {
    row = self_rows_.allocate(slot.size.hypotheses);
    check_rows(self_rows_.rows());
  }
  return row;
}

/// Records which hypotheses `parents` [rows] of a sentence continue, and their positions.
void IncrementalDecoder::assign_slot_rows(Slot& slot, Index first, std::span<const Index> parents) {
  const auto rows = std::ssize(parents);
  if (!slot.taken || rows > slot.size.hypotheses || slot.length >= slot.size.steps) {
    throw std::logic_error("more rows or steps than reserved");
  }
  const bool keeps = !slot.key_rows.empty();
  const Index first_kept = keeps ? row_of_position(slot) : 0;
  for (Index r = 0; r < rows; ++r) {
    const bool begins = slot.length == 0;
    const Index parent = begins ? -1 : at(parents, r);
    std::int32_t* own = slot.next_ancestors.data() + r * slot.size.steps;
    if (!begins) {
      const Index before = (parent - slot.last_row) * slot.size.steps;
      std::copy_n(slot.ancestors.data() + before, slot.length, own);
    }
    own[slot.length] = narrow_cast<std::int32_t>(first_kept + (keeps ? r : 0));
    parents_.push_back(parent);
    cache_rows_.push_back(own[slot.length]);
    positions_.push_back(slot.length);
  }
  slot.ancestors.swap(slot.next_ancestors);
  slot.last_row = first;
}

void IncrementalDecoder::add_groups(Index number, Index first, Index rows) {
  const Slot& slot = at(slots_, number);
  for (Index r = 0; r < rows; ++r) {
    const std::int32_t* keys = slot.ancestors.data() + r * slot.size.steps;
    self_groups_.push_back({number, first + r, 1, 0, slot.length + 1, keys, {true, {}}});
  }
  // The beams of a sentence share its source keys.
  cross_groups_.push_back({number,
                           first,
                           rows,
                           slot.first_source,
                           slot.source_rows,
                           nullptr,
                           {false, slot.key_padding_mask}});
}

void IncrementalDecoder::assign_rows(std::span<const Index> parents, std::span<const Index> slots) {
  parents_.clear();
  cache_rows_.clear();
  positions_.clear();
  self_groups_.clear();
  cross_groups_.clear();
  const Index rows_read = self_rows_.rows();
  for (Index first = 0, end = 0; first < std::ssize(slots); first = end) {
    while (end < std::ssize(slots) && at(slots, end) == at(slots, first)) ++end;
    Slot& slot = at(slots_, at(slots, first));
    assign_slot_rows(slot, first, parents.subspan(to_size(first), to_size(end - first)));
    add_groups(at(slots, first), first, end - first);
    ++slot.length;
  }
  kv_cache_->reserve(self_rows_.rows());
  kv_cache_->begin_step({parents_, cache_rows_, rows_read});
}

MatrixRef IncrementalDecoder::step(std::span<const int> tokens, std::span<const Index> parents,
                                   std::span<const Index> slots) {
  const auto n = std::ssize(tokens);
  reserve(n);
  assign_rows(parents, slots);
  if (observer_ != nullptr) observer_->step_begins(positions_.front());

  const ModelParameters& parameters = model_.parameters();
  const StackRun run{
      model_.config(), AttentionSite::decoder_self, self_groups_, cross_groups_, observer_,
      work_,           position_encoding_,          positions_};
  MatrixRef x = x_.topRows(n);  // [n, D] running through the stack
  embed_inputs(parameters.decoder, run, tokens, x);
  for (std::size_t i = 0; i < cross_cache_.size(); ++i) {
    const GrowableMatrix& source = cross_cache_[i];
    const DecoderMemory memory{source.part(0, source.rows()), kv_cache_.get()};
    decoder_layer(parameters.decoder_layers[i], to_index(i), run, memory, x);
  }
  apply_final_norm(parameters.decoder, run, x);

  MatrixRef logits = logits_.topRows(n);
  model_.logits(x, logits);
  return logits;
}

}  // namespace attn
