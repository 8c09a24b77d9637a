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

StepMemoryShape memory_shape(const ModelConfig& config, Index rows, Index steps) {
  return {config.decoder_attention,
          config.decoder_layers,
          config.decoder_heads,
          config.decoder_head_dim(),
          rows,
          steps};
}

/// An observer sees keys, so that with one they are kept, whatever the kind would keep instead.
std::unique_ptr<StepMemory> make_memory(const ModelConfig& config, Index rows, Index steps,
                                        bool observed) {
  const StepMemoryShape shape = memory_shape(config, rows, steps);
  return observed ? key_value_memory(shape) : method_of(shape.pattern).step_memory(shape);
}

}  // namespace

std::uint64_t IncrementalDecoder::cache_bytes(const ModelConfig& config, Index rows, Index steps,
                                              Index source_rows) {
  const StepMemoryShape shape = memory_shape(config, rows, steps);
  const auto past = method_of(shape.pattern).step_memory_bytes(shape);
  const auto cross = checked_product({to_size(source_rows), 2 * to_size(config.decoder_inner()),
                                      sizeof(float), to_size(config.decoder_layers)});
  if (!past || !cross) return std::numeric_limits<std::uint64_t>::max();
  return checked_add(*past, *cross).value_or(std::numeric_limits<std::uint64_t>::max());
}

IncrementalDecoder::IncrementalDecoder(const Transformer& model, const EncodedSource& source,
                                       Index rows, Index steps, AttentionObserver* observer)
    : model_(model),
      source_(source),
      observer_(observer),
      rows_(rows),
      steps_(steps),
      distances_(model.config(), model.parameters().decoder, model.parameters().decoder_layers,
                 steps) {
  const ModelConfig& config = model.config();
  if (rows * steps > std::numeric_limits<std::int32_t>::max()) {
    throw MemoryError(
        "{} hypotheses of {} tokens at once are too many; choose fewer sentences at a time, "
        "fewer beams or shorter translations",
        rows, steps);
  }
  for (const DecoderLayer& layer : model.parameters().decoder_layers) {
    Matrix keys_values(source.rows.rows(), 2 * config.decoder_inner());
    layer.cross_attention.key_value(source.rows, keys_values);
    source_memory_.push_back(std::move(keys_values));
  }
  past_ = make_memory(config, rows, steps, observer != nullptr);
  ancestors_.resize(to_size(rows * steps));
  next_ancestors_.resize(ancestors_.size());
  self_groups_.reserve(to_size(rows));
  cross_groups_.reserve(to_size(rows));
  positions_.resize(to_size(rows));
  x_.resize(rows, config.d_model);
  logits_.resize(rows, config.decoder_vocab_size);
  work_.reserve(rows, config, /*encoder=*/false, observer_ != nullptr);
}

void IncrementalDecoder::follow_parents(std::span<const Index> parents, Index n) {
  for (Index r = 0; r < n; ++r) {
    std::int32_t* own = next_ancestors_.data() + r * steps_;
    if (step_ > 0) {
      const std::int32_t* parent = ancestors_.data() + at(parents, r) * steps_;
      std::copy_n(parent, step_, own);
    }
    own[step_] = same_number<std::int32_t>(past_->first_row() + r);
  }
  ancestors_.swap(next_ancestors_);
}

void IncrementalDecoder::make_groups(std::span<const Index> sentences) {
  self_groups_.clear();
  cross_groups_.clear();
  for (std::size_t r = 0; r < sentences.size(); ++r) {
    const auto row = to_index(r);
    const Index b = sentences[r];
    self_groups_.push_back({b, row, 1, 0, step_ + 1, ancestors_.data() + row * steps_, {true, {}}});
    if (r > 0 && sentences[r - 1] == b) {
      ++cross_groups_.back().queries;  // the beams of one sentence share its keys
      continue;
    }
    const auto s = to_size(b);
    const Index first = source_.offsets[s];
    AttentionMask mask;
    if (!source_.hidden.empty()) {
      mask.hidden = std::span(source_.hidden)
                        .subspan(to_size(first), to_size(source_.offsets[s + 1] - first));
    }
    cross_groups_.push_back({b, row, 1, first, source_.offsets[s + 1] - first, nullptr, mask});
  }
}

MatrixRef IncrementalDecoder::step(std::span<const int> tokens, std::span<const Index> parents,
                                   std::span<const Index> sentences) {
  const auto n = std::ssize(tokens);
  if (n > rows_ || step_ >= steps_) throw std::logic_error("more rows or steps than reserved");
  past_->begin(step_, n, parents);
  follow_parents(parents, n);
  make_groups(sentences);
  if (observer_ != nullptr) observer_->step_begins(step_);

  const ModelParameters& parameters = model_.parameters();
  const StackRun run{
      model_.config(), AttentionKind::decoder_self, self_groups_, cross_groups_, observer_, work_,
      distances_};
  std::fill_n(positions_.begin(), n, step_);
  MatrixRef x = x_.topRows(n);  // [n, D] on its way through the stack
  enter_stack(parameters.decoder, run, tokens, {positions_.data(), tokens.size()}, x);
  for (std::size_t i = 0; i < source_memory_.size(); ++i) {
    const DecoderMemory memory{source_memory_[i], &past_->of_layer(to_index(i))};
    decoder_layer(parameters.decoder_layers[i], to_index(i), run, memory, x);
  }
  leave_stack(parameters.decoder, run, x);

  MatrixRef logits = logits_.topRows(n);
  model_.logits(x, logits);
  ++step_;
  return logits;
}

}  // namespace attn
