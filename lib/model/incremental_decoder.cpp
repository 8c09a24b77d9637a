#include "model/incremental_decoder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "base/checked.h"
#include "base/error.h"
#include "model/blocks.h"
#include "nn/embedding.h"

namespace attn {

std::uint64_t IncrementalDecoder::cache_bytes(const ModelConfig& config, Index rows, Index steps,
                                              Index source_rows) {
  const auto width = static_cast<std::uint64_t>(config.d_model) * 2 * sizeof(float);
  const auto past =
      checked_product({static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(steps), width,
                       static_cast<std::uint64_t>(config.decoder_layers)});
  const auto cross = checked_product({static_cast<std::uint64_t>(source_rows), width,
                                      static_cast<std::uint64_t>(config.decoder_layers)});
  if (!past || !cross) return std::numeric_limits<std::uint64_t>::max();
  return checked_add(*past, *cross).value_or(std::numeric_limits<std::uint64_t>::max());
}

IncrementalDecoder::IncrementalDecoder(const Transformer& model, const EncodedSource& source,
                                       Index rows, Index steps, AttentionObserver* observer)
    : model_(model), source_(source), observer_(observer), rows_(rows), steps_(steps) {
  const ModelConfig& config = model.config();
  const Index d = config.d_model;
  if (rows * steps > std::numeric_limits<std::int32_t>::max()) {
    throw MemoryError("{} hypotheses of {} tokens at once; lower --batch, --beam or --max-length",
                      rows, steps);
  }
  for (const DecoderLayer& layer : model.parameters_.decoder_layers) {
    Matrix projected(source.rows.rows(), 2 * d);
    layer.cross_attention.key_value(source.rows, projected);
    cross_.push_back(std::move(projected));
    cache_.emplace_back(static_cast<std::size_t>(rows * steps * 2 * d));
  }
  ancestors_.resize(static_cast<std::size_t>(rows * steps));
  next_ancestors_.resize(ancestors_.size());
  self_groups_.reserve(static_cast<std::size_t>(rows));
  cross_groups_.reserve(static_cast<std::size_t>(rows));
  positions_.resize(static_cast<std::size_t>(rows));
  x_.resize(rows, d);
  logits_.resize(rows, config.decoder_vocab_size);
  work_.reserve(rows, d, config.decoder_ffn_dim);
}

void IncrementalDecoder::follow_parents(std::span<const Index> parents, Index n) {
  for (Index r = 0; r < n; ++r) {
    std::int32_t* own = next_ancestors_.data() + r * steps_;
    if (step_ > 0) {
      const std::int32_t* parent =
          ancestors_.data() + parents[static_cast<std::size_t>(r)] * steps_;
      std::copy_n(parent, step_, own);
    }
    own[step_] = static_cast<std::int32_t>(step_ * rows_ + r);
  }
  ancestors_.swap(next_ancestors_);
}

void IncrementalDecoder::make_groups(std::span<const Index> sentences) {
  self_groups_.clear();
  cross_groups_.clear();
  for (std::size_t r = 0; r < sentences.size(); ++r) {
    const auto row = static_cast<Index>(r);
    const Index b = sentences[r];
    self_groups_.push_back({b, row, 1, 0, step_ + 1, ancestors_.data() + row * steps_, {}});
    if (r > 0 && sentences[r - 1] == b) {
      ++cross_groups_.back().queries;  // the beams of one sentence share its keys
      continue;
    }
    const auto s = static_cast<std::size_t>(b);
    const Index first = source_.offsets[s];
    AttentionMask mask;
    if (!source_.hidden.empty()) {
      mask.hidden = std::span(source_.hidden)
                        .subspan(static_cast<std::size_t>(first),
                                 static_cast<std::size_t>(source_.offsets[s + 1] - first));
    }
    cross_groups_.push_back({b, row, 1, first, source_.offsets[s + 1] - first, nullptr, mask});
  }
}

void IncrementalDecoder::run_layer(std::size_t i, MatrixRef x) {
  const ModelConfig& config = model_.config();
  const DecoderLayer& layer = model_.parameters_.decoder_layers[i];
  const Index n = x.rows();
  const Index d = config.d_model;
  const bool before = config.normalize_before;
  residual_block({layer.self_attention_norm, before}, x, work_, Watch{},
                 [&](const ConstMatrixRef& in, MatrixRef out) {
                   MatrixRef projected = work_.projected.topRows(n);
                   layer.self_attention.query_key_value(in, projected);
                   float* cache = cache_[i].data();
                   for (Index r = 0; r < n; ++r) {
                     std::memcpy(cache + (step_ * rows_ + r) * 2 * d,
                                 projected.data() + r * projected.outerStride() + d,
                                 static_cast<std::size_t>(2 * d) * sizeof(float));
                   }
                   MatrixRef context = work_.context.topRows(n);
                   attend(decoder_shape(config, AttentionKind::decoder_self, i),
                          projected.leftCols(d), keys_and_values(cache, 2 * d, 0, d), self_groups_,
                          context, observer_);
                   layer.self_attention.output_product(context, out);
                 });
  residual_block({layer.cross_attention_norm, before}, x, work_, Watch{},
                 [&](const ConstMatrixRef& in, MatrixRef out) {
                   MatrixRef query = work_.projected.topRows(n).leftCols(d);
                   layer.cross_attention.query_alone(in, query);
                   MatrixRef context = work_.context.topRows(n);
                   attend(decoder_shape(config, AttentionKind::cross, i), query,
                          keys_and_values(cross_[i].data(), 2 * d, 0, d), cross_groups_, context,
                          observer_);
                   layer.cross_attention.output_product(context, out);
                 });
  feed_forward_block(layer.feed_forward, {layer.final_norm, before}, x, work_);
}

MatrixRef IncrementalDecoder::step(std::span<const int> tokens, std::span<const Index> parents,
                                   std::span<const Index> sentences) {
  const auto n = static_cast<Index>(tokens.size());
  if (n > rows_ || step_ >= steps_) throw std::logic_error("more rows or steps than reserved");
  follow_parents(parents, n);
  make_groups(sentences);
  if (observer_ != nullptr) observer_->step_begins(step_);

  const StackEnds& ends = model_.parameters_.decoder;
  const ModelConfig& config = model_.config();
  MatrixRef x = x_.topRows(n);
  std::fill_n(positions_.begin(), n, step_);
  embed(ends.embedding, ends.positions, model_.embedding_scale(), tokens,
        {positions_.data(), tokens.size()}, x);
  if (config.normalize_embedding) ends.embedding_norm.forward(x, x);
  for (std::size_t i = 0; i < cache_.size(); ++i) run_layer(i, x);
  if (config.add_final_layer_norm) ends.final_norm.forward(x, x);

  MatrixRef logits = logits_.topRows(n);
  model_.logits(x, logits);
  ++step_;
  return logits;
}

}  // namespace attn
