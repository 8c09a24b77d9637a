#include "why/stack_runs.h"

#include "base/at.h"

namespace attn {
namespace {

/// Returns as many sentences of this length, with ids that nothing reads.
PackedTokens repeated_sentences(Index count, Index length) {
  PackedTokens tokens;
  const std::vector<int> sentence(to_size(length), 0);
  for (Index b = 0; b < count; ++b) tokens.add(sentence);
  return tokens;
}

}  // namespace

EncoderRuns::EncoderRuns(const Transformer& model, Index count, Index length)
    : config_(model.config()),
      parameters_(model.parameters()),
      tokens_(repeated_sentences(count, length)),
      positions_(positions_of(tokens_)),
      position_encoding_(config_, parameters_.encoder, parameters_.encoder_layers, length) {
  if (config_.global_tokens > 0) {
    layout_ = std::make_unique<const GlobalTokenRows>(tokens_, config_.global_tokens);
    groups_ = layout_->groups();
  } else {
    groups_ = self_groups(tokens_, /*causal=*/false, config_.encoder_attention.globals);
  }
  rows_ = layout_ ? layout_->rows() : tokens_.offsets.back();
  work_.reserve(rows_, config_, /*encoder=*/true, /*watched=*/false);
}

StackRun EncoderRuns::run() {
  return {config_, AttentionSite::encoder_self, groups_,   {}, nullptr,
          work_,   position_encoding_,          positions_};
}

Matrix EncoderRuns::embed(std::span<const int> ids) {
  Matrix tokens(std::ssize(ids), config_.d_model);
  embed_inputs(parameters_.encoder, run(), ids, tokens);
  if (!layout_) return tokens;
  Matrix all(rows_, config_.d_model);
  layout_->prepend(parameters_.encoder.global_tokens, tokens, all);
  return all;
}

void EncoderRuns::layer(Index index, Matrix& x) {
  encoder_layer(at(parameters_.encoder_layers, index), index, run(), x);
}

Matrix EncoderRuns::finish(Matrix x) {
  apply_final_norm(parameters_.encoder, run(), x);
  if (!layout_) return x;
  Matrix own(tokens_.offsets.back(), x.cols());
  layout_->gather(x, own);
  return own;
}

DecoderRuns::DecoderRuns(const Transformer& model, Index count, Index length, const Source& source)
    : config_(model.config()),
      parameters_(model.parameters()),
      tokens_(repeated_sentences(count, length)),
      positions_(positions_of(tokens_)),
      position_encoding_(config_, parameters_.decoder, parameters_.decoder_layers, length),
      self_(self_groups(tokens_, /*causal=*/true)),
      cross_(cross_groups(tokens_, repeated_sentences(count, source.length).offsets, {})),
      source_(source.rows),
      keys_values_(source.rows.rows(), 2 * config_.decoder_kv_dim()) {
  if (source_.rows() == source.length) {
    for (AttentionGroup& group : cross_) group.first_key = 0;
  }
  work_.reserve(count * length, config_, /*encoder=*/false, /*watched=*/true);
}

StackRun DecoderRuns::run(AttentionObserver* observer) {
  return {config_, AttentionSite::decoder_self, self_,     cross_, observer,
          work_,   position_encoding_,          positions_};
}

Matrix DecoderRuns::embed(std::span<const int> ids) {
  Matrix x(std::ssize(ids), config_.d_model);
  embed_inputs(parameters_.decoder, run(nullptr), ids, x);
  return x;
}

void DecoderRuns::layer(Index index, Matrix& x, AttentionObserver* observer) {
  const DecoderLayer& layer = at(parameters_.decoder_layers, index);
  layer.cross_attention.kv_projection(source_, keys_values_);
  decoder_layer(layer, index, run(observer), {keys_values_}, x);
}

void DecoderRuns::layers_from(Index first, Matrix& x, AttentionObserver* observer) {
  for (Index l = first; l < config_.decoder_layers; ++l) layer(l, x, observer);
}

std::vector<double> DecoderRuns::differences(const Matrix& x, int word, int foil) {
  Matrix last(tokens_.sentences(), x.cols());
  for (Index b = 0; b < last.rows(); ++b) last.row(b) = x.row(at(tokens_.offsets, b + 1) - 1);
  apply_final_norm(parameters_.decoder, run(nullptr), last);
  std::vector<double> result;
  for (Index b = 0; b < last.rows(); ++b) {
    result.push_back(logit(last, b, word) - logit(last, b, foil));
  }
  return result;
}

double DecoderRuns::logit(const Matrix& hidden, Index row, int word) const {
  const Parameter& table = parameters_.output;
  double sum = parameters_.logits_bias.exists() ? double{parameters_.logits_bias.at(0, word)} : 0;
  for (Index j = 0; j < hidden.cols(); ++j) {
    sum += double{hidden(row, j)} * double{table.at(word, j)};
  }
  return sum;
}

}  // namespace attn
