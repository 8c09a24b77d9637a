#include "model/incremental_decoder.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "base/at.h"
#include "base/checked.h"
#include "base/error.h"
#include "nn/attention/kinds/performer.h"

namespace attn {
namespace {

/// Floats that a performer's layer keeps of a hypothesis; 0 for other kinds.
Index state_size(const ModelConfig& config) {
  const AttentionPattern& pattern = config.decoder_attention;
  if (pattern.type != PatternType::performer) return 0;
  const int head_dim = config.decoder_head_dim();
  return config.decoder_heads *
         PerformerState::size(pattern.features_of(head_dim), Index{head_dim});
}

/// Steps whose keys some query still sees, its own among them; in all layers those of the one that
/// sees most.
Index steps_in_sight(const AttentionPattern& pattern, Index steps) {
  if (pattern.type == PatternType::window) {
    const int widest = *std::max_element(pattern.windows.begin(), pattern.windows.end());
    return std::min(steps, Index{widest} / 2 + 1);
  }
  if (pattern.type == PatternType::sparse_fixed) {  // a block, and the summaries of all of them
    const Index block = pattern.stride, summary = pattern.summary;
    return std::min(steps, block - summary + (steps + block - 1) / block * summary);
  }
  return steps;
}

/// Where a step's keys are kept, of `kept` places: those that nobody sees any more give way.
Index cache_place(const AttentionPattern& pattern, Index step, Index kept) {
  if (pattern.type != PatternType::sparse_fixed) return step % kept;
  const Index block = step / pattern.stride, within = step % pattern.stride;
  return within < pattern.stride - pattern.summary ? within : block * pattern.summary + within;
}

}  // namespace

std::uint64_t IncrementalDecoder::cache_bytes(const ModelConfig& config, Index rows, Index steps,
                                              Index source_rows) {
  const auto width = to_size(config.d_model) * 2 * sizeof(float);
  const Index state = state_size(config);
  const auto past = state > 0
                        ? checked_product({to_size(rows), to_size(state), sizeof(float),
                                           to_size(config.decoder_layers) + 1})
                        : checked_product({to_size(rows),
                                           to_size(steps_in_sight(config.decoder_attention, steps)),
                                           width, to_size(config.decoder_layers)});
  const auto cross = checked_product({to_size(source_rows), width, to_size(config.decoder_layers)});
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
      kept_steps_(steps_in_sight(model.config().decoder_attention, steps)),
      state_size_(observer == nullptr ? state_size(model.config()) : 0) {
  const ModelConfig& config = model.config();
  if (rows * steps > std::numeric_limits<std::int32_t>::max()) {
    throw MemoryError(
        "{} hypotheses of {} tokens at once are too many; choose fewer sentences at a time, "
        "fewer beams or shorter translations",
        rows, steps);
  }
  for (const DecoderLayer& layer : model.parameters().decoder_layers) {
    Matrix keys_values(source.rows.rows(), 2 * config.d_model);
    layer.cross_attention.key_value(source.rows, keys_values);
    source_memory_.push_back(std::move(keys_values));
    if (state_size_ == 0) {
      past_.emplace_back(rows * kept_steps_, config.d_model);
    } else {
      states_.emplace_back(rows, state_size_);
    }
  }
  if (state_size_ > 0) next_states_.resize(rows, state_size_);
  state_rows_.resize(to_size(state_size_ > 0 ? rows : 0));
  ancestors_.resize(to_size(rows * steps));
  next_ancestors_.resize(ancestors_.size());
  self_groups_.reserve(to_size(rows));
  cross_groups_.reserve(to_size(rows));
  positions_.resize(to_size(rows));
  x_.resize(rows, config.d_model);
  logits_.resize(rows, config.decoder_vocab_size);
  work_.reserve(rows, config.d_model, config.decoder_ffn_dim, observer_ != nullptr);
}

void IncrementalDecoder::follow_parents(std::span<const Index> parents, Index n) {
  for (Index r = 0; r < n; ++r) {
    std::int32_t* own = next_ancestors_.data() + r * steps_;
    if (step_ > 0) {
      const std::int32_t* parent = ancestors_.data() + at(parents, r) * steps_;
      std::copy_n(parent, step_, own);
    }
    own[step_] = same_number<std::int32_t>(first_row_ + r);
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

/// Row r of every layer's states becomes what row parents[r] has, or the beginning.
void IncrementalDecoder::move_states(std::span<const Index> parents, Index n) {
  const ModelConfig& config = model_.config();
  const Index head_dim = config.decoder_head_dim();
  const Index features = config.decoder_attention.features_of(config.decoder_head_dim());
  for (Matrix& states : states_) {
    for (Index r = 0; r < n; ++r) {
      if (step_ > 0) {
        next_states_.row(r) = states.row(at(parents, r));
        continue;
      }
      for (Index head = 0; head < config.decoder_heads; ++head) {
        const Index first = head * PerformerState::size(features, head_dim);
        PerformerState(next_states_.row(r).data() + first, features, head_dim).begin();
      }
    }
    states.swap(next_states_);
  }
}

MatrixRef IncrementalDecoder::step(std::span<const int> tokens, std::span<const Index> parents,
                                   std::span<const Index> sentences) {
  const auto n = std::ssize(tokens);
  if (n > rows_ || step_ >= steps_) throw std::logic_error("more rows or steps than reserved");
  first_row_ = cache_place(model_.config().decoder_attention, step_, kept_steps_) * rows_;
  follow_parents(parents, n);
  make_groups(sentences);
  if (observer_ != nullptr) observer_->step_begins(step_);

  const ModelParameters& parameters = model_.parameters();
  const StackRun run{
      model_.config(), AttentionKind::decoder_self, self_groups_, cross_groups_, observer_, work_};
  std::fill_n(positions_.begin(), n, step_);
  MatrixRef x = x_.topRows(n);  // [n, D] on its way through the stack
  enter_stack(parameters.decoder, run, tokens, {positions_.data(), tokens.size()}, x);
  if (state_size_ > 0) move_states(parents, n);
  for (std::size_t i = 0; i < source_memory_.size(); ++i) {
    DecoderMemory memory{source_memory_[i]};
    if (state_size_ > 0) {
      for (Index r = 0; r < n; ++r) at(state_rows_, r) = states_[i].row(r).data();
      memory.states = std::span(state_rows_).first(to_size(n));
    } else {
      memory.past = &past_[i];
      memory.first = first_row_;
    }
    decoder_layer(parameters.decoder_layers[i], to_index(i), run, memory, x);
  }
  leave_stack(parameters.decoder, run, x);

  MatrixRef logits = logits_.topRows(n);
  model_.logits(x, logits);
  ++step_;
  return logits;
}

}  // namespace attn
