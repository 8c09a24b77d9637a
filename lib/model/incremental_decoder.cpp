#include "model/incremental_decoder.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/at.h"
#include "base/checked.h"
#include "base/error.h"
#include "nn/attention/kinds/attention_method.h"

namespace attn {
namespace {

StepMemoryShape memory_shape(const ModelConfig& config) {
  return {config.decoder_attention, config.decoder_layers, config.decoder_key_heads(),
          config.decoder_head_dim()};
}

/// An observer sees keys, so that with one they are kept, whatever the kind would keep instead.
std::unique_ptr<StepMemory> make_memory(const ModelConfig& config, bool observed) {
  const StepMemoryShape shape = memory_shape(config);
  return observed ? key_value_memory(shape) : method_of(shape.pattern).step_memory(shape);
}

/// Rows of a cache are numbered in 32 bits.
void check_rows(Index rows) {
  if (rows <= std::numeric_limits<std::int32_t>::max()) return;
  throw MemoryError(
      "{} keys and values at once are too many; choose fewer sentences at a time, fewer beams or "
      "shorter translations",
      rows);
}

}  // namespace

std::uint64_t IncrementalDecoder::cache_bytes(const ModelConfig& config, Index rows, Index steps,
                                              Index source_rows) {
  const StepMemoryShape shape = memory_shape(config);
  const auto past = method_of(shape.pattern).step_memory_bytes(shape, rows, steps);
  const auto cross =
      checked_product({to_size(source_rows), 2 * to_size(config.decoder_key_columns()),
                       sizeof(float), to_size(config.decoder_layers)});
  if (!past || !cross) return std::numeric_limits<std::uint64_t>::max();
  return checked_add(*past, *cross).value_or(std::numeric_limits<std::uint64_t>::max());
}

IncrementalDecoder::IncrementalDecoder(const Transformer& model, AttentionObserver* observer)
    : model_(model), observer_(observer), past_(make_memory(model.config(), observer != nullptr)) {
  for (int layer = 0; layer < model.config().decoder_layers; ++layer) {
    source_memory_.emplace_back(2 * model.config().decoder_key_columns());
  }
}

Index IncrementalDecoder::free_slot() {
  const auto free = std::ranges::find(slots_, false, &Slot::taken);
  if (free != slots_.end()) return free - slots_.begin();
  slots_.emplace_back();
  return std::ssize(slots_) - 1;
}

std::vector<Index> IncrementalDecoder::join(const EncodedSource& source,
                                            std::span<const SlotSize> sizes) {
  const Index source_rows = source.rows.rows();
  const Index first_source = source_rows_.take(source_rows);
  std::vector<Index> joined;
  try {
    for (std::size_t b = 0; b < sizes.size(); ++b) {
      const Index slot = free_slot();
      joined.push_back(slot);
      take_in(at(slots_, slot), source, b, sizes[b]);
      at(slots_, slot).first_source = first_source + source.offsets[b];
    }
    make_room(sizes);
    const std::vector<DecoderLayer>& layers = model_.parameters().decoder_layers;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      layers[i].cross_attention.key_value(source.rows,
                                          source_memory_[i].part(first_source, source_rows));
    }
  } catch (...) {
    for (const Index slot : joined) at(slots_, slot).source_rows = 0;  // given back as a whole
    for (const Index slot : joined) leave(slot);
    source_rows_.give_back(first_source, source_rows);
    throw;
  }
  return joined;
}

/// Number `b` of the sentences of `source`, into a slot that is free.
void IncrementalDecoder::take_in(Slot& slot, const EncodedSource& source, std::size_t b,
                                 const SlotSize& size) {
  slot = Slot();
  slot.taken = true;
  slot.ancestors.resize(to_size(size.hypotheses * size.steps));
  slot.next_ancestors.resize(slot.ancestors.size());
  slot.source_rows = source.offsets[b + 1] - source.offsets[b];
  if (!source.hidden.empty()) {
    const auto first = source.hidden.begin() + source.offsets[b];
    slot.hidden.assign(first, first + slot.source_rows);
  }
  slot.past.assign(to_size(past_->kept_steps(size.steps)), -1);
  slot.size = size;
}

/// For sources that have joined, and the longest that may be found for them: the system gives pages
/// only for what is.
void IncrementalDecoder::make_room(std::span<const SlotSize> sizes) {
  Index rows = past_rows_.rows();
  for (const SlotSize& size : sizes) rows += size.hypotheses * past_->kept_steps(size.steps);
  check_rows(rows);
  past_->reserve(rows);
  for (GrowingRows& memory : source_memory_) memory.reserve(source_rows_.rows());
  const Index places = std::ranges::max(sizes, {}, &SlotSize::steps).steps;
  if (places <= places_) return;
  knows_ = StackPlaces(model_.config(), model_.parameters().decoder,
                       model_.parameters().decoder_layers, places);
  places_ = places;
}

void IncrementalDecoder::leave(Index number) {
  Slot& slot = at(slots_, number);
  for (const Index row : slot.past) {
    if (row >= 0) past_rows_.give_back(row, slot.size.hypotheses);
  }
  source_rows_.give_back(slot.first_source, slot.source_rows);
  slot.taken = false;
}

void IncrementalDecoder::reserve(Index rows) {
  if (rows <= x_.rows()) return;
  const ModelConfig& config = model_.config();
  x_.resize(rows, config.d_model);
  logits_.resize(rows, config.decoder_vocab_size);
  work_.reserve(rows, config, /*encoder=*/false, observer_ != nullptr);
}

/// The first of the rows that the sentence's keys and values at its place take.
Index IncrementalDecoder::row_of_place(Slot& slot) {
  Index& row = at(slot.past, past_->kept_place(slot.place, std::ssize(slot.past)));
  if (row < 0) {
    row = past_rows_.take(slot.size.hypotheses);
    check_rows(past_rows_.rows());
  }
  return row;
}

/// What the hypotheses of one sentence continue, `parents` [rows], and where they stand.
void IncrementalDecoder::place_slot(Slot& slot, Index first, std::span<const Index> parents) {
  const auto rows = std::ssize(parents);
  if (!slot.taken || rows > slot.size.hypotheses || slot.place >= slot.size.steps) {
    throw std::logic_error("more rows or steps than reserved");
  }
  const bool keeps = !slot.past.empty();
  const Index first_kept = keeps ? row_of_place(slot) : 0;
  for (Index r = 0; r < rows; ++r) {
    const bool begins = slot.place == 0;
    const Index parent = begins ? -1 : at(parents, r);
    std::int32_t* own = slot.next_ancestors.data() + r * slot.size.steps;
    if (!begins) {
      const Index before = (parent - slot.last_row) * slot.size.steps;
      std::copy_n(slot.ancestors.data() + before, slot.place, own);
    }
    own[slot.place] = same_number<std::int32_t>(first_kept + (keeps ? r : 0));
    parents_.push_back(parent);
    kept_.push_back(own[slot.place]);
    positions_.push_back(slot.place);
  }
  slot.ancestors.swap(slot.next_ancestors);
  slot.last_row = first;
}

void IncrementalDecoder::add_groups(Index number, Index first, Index rows) {
  const Slot& slot = at(slots_, number);
  for (Index r = 0; r < rows; ++r) {
    const std::int32_t* keys = slot.ancestors.data() + r * slot.size.steps;
    self_groups_.push_back({number, first + r, 1, 0, slot.place + 1, keys, {true, {}}});
  }
  // The beams of one sentence share its keys.
  cross_groups_.push_back(
      {number, first, rows, slot.first_source, slot.source_rows, nullptr, {false, slot.hidden}});
}

void IncrementalDecoder::place_rows(std::span<const Index> parents, std::span<const Index> slots) {
  parents_.clear();
  kept_.clear();
  positions_.clear();
  self_groups_.clear();
  cross_groups_.clear();
  const Index rows_read = past_rows_.rows();
  for (Index first = 0, end = 0; first < std::ssize(slots); first = end) {
    while (end < std::ssize(slots) && at(slots, end) == at(slots, first)) ++end;
    Slot& slot = at(slots_, at(slots, first));
    place_slot(slot, first, parents.subspan(to_size(first), to_size(end - first)));
    add_groups(at(slots, first), first, end - first);
    ++slot.place;
  }
  past_->reserve(past_rows_.rows());
  past_->begin({parents_, kept_, rows_read});
}

MatrixRef IncrementalDecoder::step(std::span<const int> tokens, std::span<const Index> parents,
                                   std::span<const Index> slots) {
  const auto n = std::ssize(tokens);
  reserve(n);
  place_rows(parents, slots);
  if (observer_ != nullptr) observer_->step_begins(positions_.front());

  const ModelParameters& parameters = model_.parameters();
  const StackRun run{model_.config(), AttentionKind::decoder_self,
                     self_groups_,    cross_groups_,
                     observer_,       work_,
                     knows_,          positions_};
  MatrixRef x = x_.topRows(n);  // [n, D] on its way through the stack
  enter_stack(parameters.decoder, run, tokens, x);
  for (std::size_t i = 0; i < source_memory_.size(); ++i) {
    const GrowingRows& source = source_memory_[i];
    const DecoderMemory memory{source.part(0, source.rows()), &past_->of_layer(to_index(i))};
    decoder_layer(parameters.decoder_layers[i], to_index(i), run, memory, x);
  }
  leave_stack(parameters.decoder, run, x);

  MatrixRef logits = logits_.topRows(n);
  model_.logits(x, logits);
  return logits;
}

}  // namespace attn
