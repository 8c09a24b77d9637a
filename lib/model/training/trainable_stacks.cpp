#include "model/training/trainable_stacks.h"

#include <optional>
#include <stdexcept>

#include "base/at.h"
#include "model/layers.h"
#include "nn/embedding.h"

namespace attn {

/// The input and output of a stack: embedding with positions, its norm and dropout; the final norm.
class TrainableStackEnds {
 public:
  /// `scale` multiplies the output of the final norm.
  TrainableStackEnds(const ModelConfig& config, const StackParameters& parameters,
                     const StackParameters& gradient, float scale = 1.0F)
      : config_(config), parameters_(parameters), gradient_(gradient), scale_(scale) {}

  /// `shift` [T, D] is added to the tokens' rows; null: nothing.
  ConstMatrixRef enter(const PackedTokens& tokens, std::span<const Index> positions,
                       const Matrix* shift, const Dropout& dropout) {
    positions_ = positions;
    dropout_ = dropout;
    const auto rows = std::ssize(tokens.ids);
    MatrixRef embedded = embedded_.resize(rows, config_.d_model);
    embed(embedding_tables(config_, parameters_), {tokens.ids, positions_}, embedded);
    if (shift != nullptr) embedded += *shift;
    if (!config_.normalize_embedding) {
      dropout_.apply(embedded);
      return embedded_;
    }
    MatrixRef normal = normal_.resize(rows, config_.d_model);
    parameters_.embedding_norm.forward(embedded, normal);
    dropout_.apply(normal);
    return normal_;
  }

  /// dx becomes the gradient of the tokens' rows.
  void enter_backward(const PackedTokens& tokens, MatrixRef dx) {
    dropout_.apply(dx);
    if (config_.normalize_embedding) {
      parameters_.embedding_norm.backward(embedded_, dx, dx, gradient_.embedding_norm);
    }
    if (!gradient_.embedding.exists()) return;
    embed_backward(
        dx, {tokens.ids, positions_}, frozen_row(config_),
        {gradient_.embedding,
         config_.static_positions ? Parameter{} : position_rows(config_, gradient_.positions),
         embedding_scale(config_)});
  }

  ConstMatrixRef leave(const ConstMatrixRef& x) {
    if (!config_.add_final_layer_norm) return x;
    MatrixRef normal = final_.resize(x.rows(), x.cols());
    parameters_.final_norm.forward(x, normal);
    if (scale_ != 1.0F) normal *= scale_;
    return final_;
  }

  void leave_backward(const ConstMatrixRef& x, MatrixRef dx) const {
    if (scale_ != 1.0F) dx *= scale_;
    if (config_.add_final_layer_norm) {
      parameters_.final_norm.backward(x, dx, dx, gradient_.final_norm);
    }
  }

 private:
  const ModelConfig& config_;
  const StackParameters& parameters_;
  const StackParameters& gradient_;
  float scale_;
  Dropout dropout_;
  std::span<const Index> positions_;
  ActivationBuffer embedded_;
  ActivationBuffer normal_;
  ActivationBuffer final_;
};

/// One batch on its way through the stacks.
struct TrainableStacks::Pass {
  const PackedTokens& source_tokens;
  const PackedTokens& target_tokens;
  DropoutKeys keys;
  std::vector<AttentionGroup> source_groups;
  std::vector<AttentionGroup> target_groups;
  std::vector<AttentionGroup> cross;
  AttentionPositionEncoding source_position_encoding;
  AttentionPositionEncoding target_position_encoding;
  std::vector<Index> source_positions;
  std::vector<Index> target_positions;
  LayerPass encoder;
  LayerPass decoder;
  std::optional<ConstMatrixRef> encoded;  ///< [S, D] the last encoder layer's output
  std::optional<ConstMatrixRef> source;   ///< [S, D] the same after the final norm

  Pass(TrainableStacks& stacks, const StackInputs& inputs, const StackDropout& dropout)
      : source_tokens(inputs.source),
        target_tokens(inputs.decoder_input),
        keys(dropout.seed, dropout.batch),
        source_groups(stacks.global_tokens_.begin(inputs.source)),
        target_groups(self_groups(inputs.decoder_input, /*causal=*/true)),
        cross(cross_groups(inputs.decoder_input, inputs.source.offsets, {})),
        source_position_encoding(stacks.config_, stacks.parameters_.encoder,
                                 stacks.parameters_.encoder_layers,
                                 longest_sentence(inputs.source)),
        target_position_encoding(stacks.config_, stacks.parameters_.decoder,
                                 stacks.parameters_.decoder_layers,
                                 longest_sentence(inputs.decoder_input)),
        source_positions(positions_of(inputs.source)),
        target_positions(positions_of(inputs.decoder_input)),
        encoder{source_groups,
                {},
                keys,
                dropout.enabled,
                stacks.scratch_,
                source_position_encoding,
                source_positions,
                stacks.gradient_.encoder.relative_bias},
        decoder{target_groups,
                cross,
                keys,
                dropout.enabled,
                stacks.scratch_,
                target_position_encoding,
                target_positions,
                stacks.gradient_.decoder.relative_bias,
                inputs.guided} {}
};

TrainableStacks::TrainableStacks(TrainableModel& model, Backend backend)
    : config_(model.config()),
      parameters_(model.parameters()),
      gradient_(model.gradient_parameters()),
      encoder_ends_(
          std::make_unique<TrainableStackEnds>(config_, parameters_.encoder, gradient_.encoder)),
      decoder_ends_(std::make_unique<TrainableStackEnds>(config_, parameters_.decoder,
                                                         gradient_.decoder, output_scale(config_))),
      global_tokens_(config_, parameters_.encoder.global_tokens, gradient_.encoder.global_tokens) {
  const ModelParameters& p = parameters_;
  const ModelParameters& g = gradient_;
  for (std::size_t i = 0; i < p.encoder_layers.size(); ++i) {
    encoder_.emplace_back(config_, to_index(i), p.encoder_layers[i], g.encoder_layers[i], backend);
  }
  for (std::size_t i = 0; i < p.decoder_layers.size(); ++i) {
    decoder_.emplace_back(config_, to_index(i), p.decoder_layers[i], g.decoder_layers[i], backend);
  }
}

TrainableStacks::~TrainableStacks() = default;

void TrainableStacks::prepare() {
  for (TrainableEncoderLayer& layer : encoder_) layer.prepare();
  for (TrainableDecoderLayer& layer : decoder_) layer.prepare();
}

ConstMatrixRef TrainableStacks::forward(const StackInputs& inputs, const StackDropout& dropout) {
  check_tokens(inputs.source, config_.vocab_size, config_.max_positions, "source");
  check_tokens(inputs.decoder_input, config_.decoder_vocab_size, config_.decoder_positions(),
               "target");
  if (inputs.source.sentences() != inputs.decoder_input.sentences()) {
    throw std::logic_error("a batch needs as many targets as sources");
  }
  pass_ = std::make_unique<Pass>(*this, inputs, dropout);
  Pass& pass = *pass_;
  const float probability = dropout.enabled ? config_.dropout : 0.0F;

  source_inputs_.clear();
  source_inputs_.push_back(global_tokens_.enter(encoder_ends_->enter(
      inputs.source, pass.source_positions, inputs.source_shift, pass.keys.next(probability))));
  for (TrainableEncoderLayer& layer : encoder_) {
    source_inputs_.push_back(layer.forward(source_inputs_.back(), pass.encoder));
  }
  pass.encoded.emplace(global_tokens_.leave(source_inputs_.back()));
  pass.source.emplace(encoder_ends_->leave(*pass.encoded));
  target_inputs_.clear();
  target_inputs_.push_back(decoder_ends_->enter(inputs.decoder_input, pass.target_positions,
                                                inputs.decoder_input_shift,
                                                pass.keys.next(probability)));
  for (TrainableDecoderLayer& layer : decoder_) {
    target_inputs_.push_back(layer.forward(target_inputs_.back(), *pass.source, pass.decoder));
  }
  return decoder_ends_->leave(target_inputs_.back());
}

EmbeddingGradient TrainableStacks::backward(MatrixRef dhidden) {
  Pass& pass = *pass_;
  const ConstMatrixRef& source = *pass.source;
  MatrixRef dsource = dsource_.resize(source.rows(), source.cols());
  dsource.setZero();  // the decoder layers add to the gradient of the encoder's output
  decoder_ends_->leave_backward(target_inputs_.back(), dhidden);
  for (std::size_t i = decoder_.size(); i-- > 0;) {
    decoder_[i].backward(target_inputs_[i], {source, dsource}, pass.decoder, dhidden);
  }
  decoder_ends_->enter_backward(pass.target_tokens, dhidden);
  encoder_ends_->leave_backward(*pass.encoded, dsource);
  MatrixRef drows = global_tokens_.leave_backward(dsource);
  for (std::size_t i = encoder_.size(); i-- > 0;) {
    encoder_[i].backward(source_inputs_[i], pass.encoder, drows);
  }
  global_tokens_.enter_backward(drows, dsource);
  encoder_ends_->enter_backward(pass.source_tokens, dsource);
  return {dsource, dhidden};
}

}  // namespace attn
