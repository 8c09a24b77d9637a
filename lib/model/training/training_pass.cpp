#include "model/training/training_pass.h"

#include <algorithm>
#include <deque>
#include <stdexcept>

#include "base/at.h"
#include "model/layers.h"
#include "model/training/training_layers.h"
#include "nn/attention/tiled_attention.h"
#include "nn/embedding.h"

namespace attn {
namespace {

/// Rows of logits at a time: those of the whole batch would be the largest matrix of the pass.
constexpr Index kLogitRows = 256;

}  // namespace

/// The input and output of a stack: embedding with positions, its norm and dropout; the final norm.
class TrainableStackEnds {
 public:
  /// `scale` multiplies the output of the final norm.
  TrainableStackEnds(const ModelConfig& config, const StackParameters& parameters,
                     const StackParameters& gradient, float scale = 1.0F)
      : config_(config), parameters_(parameters), gradient_(gradient), scale_(scale) {}

  ConstMatrixRef enter(const PackedTokens& tokens, std::span<const Index> positions,
                       const Dropout& dropout) {
    positions_ = positions;
    dropout_ = dropout;
    const auto rows = std::ssize(tokens.ids);
    MatrixRef embedded = embedded_.resize(rows, config_.d_model);
    embed(embedding_tables(config_, parameters_), {tokens.ids, positions_}, embedded);
    if (!config_.normalize_embedding) {
      dropout_.apply(embedded);
      return embedded_;
    }
    MatrixRef normal = normal_.resize(rows, config_.d_model);
    parameters_.embedding_norm.forward(embedded, normal);
    dropout_.apply(normal);
    return normal_;
  }

  void enter_backward(const PackedTokens& tokens, MatrixRef dx) {
    dropout_.apply(dx);
    if (config_.normalize_embedding) {
      parameters_.embedding_norm.backward(embedded_, dx, dx, gradient_.embedding_norm);
    }
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

namespace {

/// Returns the part of the output layer that covers the loss classes: [D, C].
Linear first_classes(const Parameter& table, Index classes) {
  Parameter rows = table;
  rows.rows = classes;
  return {rows.transposed(), {}};
}

}  // namespace

void TrainingBatch::add(std::span<const int> source_ids, std::span<const int> target_ids,
                        int start) {
  source.add(source_ids);
  decoder_input.ids.push_back(start);
  decoder_input.ids.insert(decoder_input.ids.end(), target_ids.begin(), target_ids.end() - 1);
  decoder_input.offsets.push_back(std::ssize(decoder_input.ids));
  targets.insert(targets.end(), target_ids.begin(), target_ids.end());
}

void TrainingBatch::add_links(std::span<const TokenLink> added) {
  const Index first = decoder_input.offsets[decoder_input.offsets.size() - 2];
  for (TokenLink link : added) {
    link.query += first;
    links.push_back(link);
  }
}

void TrainingBatch::clear() {
  for (PackedTokens* side : {&source, &decoder_input}) {
    side->ids.clear();
    side->offsets.assign(1, 0);
  }
  targets.clear();
  links.clear();
}

void TrainingBatch::set_repeated(const TrainingBatch& once) {
  clear();
  for (int pass = 0; pass < 2; ++pass) {
    for (Index b = 0; b < once.source.sentences(); ++b) {
      source.add(once.source, to_size(b));
      decoder_input.add(once.decoder_input, to_size(b));
    }
    targets.insert(targets.end(), once.targets.begin(), once.targets.end());
    // As the cross-entropies, each pass counts half.
    for (TokenLink link : once.links) {
      link.query += pass * once.tokens();
      link.weight /= 2;
      links.push_back(link);
    }
  }
}

class TrainingPass::Layers {
 public:
  Layers(TrainableModel& model, Backend backend)
      : config_(model.config()),
        parameters_(model.parameters()),
        gradient_(model.gradient_parameters()),
        encoder_ends_(config_, parameters_.encoder, gradient_.encoder),
        decoder_ends_(config_, parameters_.decoder, gradient_.decoder, output_scale(config_)),
        global_tokens_(config_, model.parameters().encoder.global_tokens,
                       model.gradient_parameters().encoder.global_tokens),
        output_(first_classes(model.parameters().output, loss_classes(config_)),
                first_classes(model.gradient_parameters().output, loss_classes(config_)), backend) {
    read_logits_bias();
    const ModelParameters& p = parameters_;
    const ModelParameters& g = gradient_;
    for (std::size_t i = 0; i < p.encoder_layers.size(); ++i) {
      encoder_.emplace_back(config_, to_index(i), p.encoder_layers[i], g.encoder_layers[i],
                            backend);
    }
    for (std::size_t i = 0; i < p.decoder_layers.size(); ++i) {
      decoder_.emplace_back(config_, to_index(i), p.decoder_layers[i], g.decoder_layers[i],
                            backend);
    }
  }

  void prepare() {
    for (TrainableEncoderLayer& layer : encoder_) layer.prepare();
    for (TrainableDecoderLayer& layer : decoder_) layer.prepare();
    output_.prepare();
    read_logits_bias();
  }

  LossSum run(const TrainingBatch& batch, const PassOptions& options, bool with_backward) {
    check(batch);
    DropoutKeys keys(options.seed, options.batch);
    const float dropout = options.dropout ? config_.dropout : 0.0F;
    const std::vector<AttentionGroup> source_groups = global_tokens_.begin(batch.source);
    const std::vector<AttentionGroup> target_groups =
        self_groups(batch.decoder_input, /*causal=*/true);
    const std::vector<AttentionGroup> cross =
        cross_groups(batch.decoder_input, batch.source.offsets, {});
    const AttentionPositionEncoding source_position_encoding(
        config_, parameters_.encoder, parameters_.encoder_layers, longest_sentence(batch.source));
    const AttentionPositionEncoding target_position_encoding(config_, parameters_.decoder,
                                                             parameters_.decoder_layers,
                                                             longest_sentence(batch.decoder_input));
    const std::vector<Index> source_positions = positions_of(batch.source);
    const std::vector<Index> target_positions = positions_of(batch.decoder_input);
    const LayerPass encoder_pass{source_groups,
                                 {},
                                 keys,
                                 options.dropout,
                                 scratch_,
                                 source_position_encoding,
                                 source_positions,
                                 gradient_.encoder.relative_bias};
    GuidedLayer guided = guided_layer(batch, options);
    const LayerPass decoder_pass{target_groups,
                                 cross,
                                 keys,
                                 options.dropout,
                                 scratch_,
                                 target_position_encoding,
                                 target_positions,
                                 gradient_.decoder.relative_bias,
                                 options.guided != nullptr ? &guided : nullptr};

    // Forward pass. The encoder's rows are [S, D], the decoder's [T, D].
    source_inputs_.clear();
    source_inputs_.push_back(global_tokens_.enter(
        encoder_ends_.enter(batch.source, source_positions, keys.next(dropout))));
    for (TrainableEncoderLayer& layer : encoder_) {
      source_inputs_.push_back(layer.forward(source_inputs_.back(), encoder_pass));
    }
    const ConstMatrixRef encoded = global_tokens_.leave(source_inputs_.back());
    const ConstMatrixRef source = encoder_ends_.leave(encoded);
    target_inputs_.clear();
    target_inputs_.push_back(
        decoder_ends_.enter(batch.decoder_input, target_positions, keys.next(dropout)));
    for (TrainableDecoderLayer& layer : decoder_) {
      target_inputs_.push_back(layer.forward(target_inputs_.back(), source, decoder_pass));
    }
    const ConstMatrixRef hidden = decoder_ends_.leave(target_inputs_.back());

    MatrixRef dtarget = dtarget_.resize(hidden.rows(), hidden.cols());
    LossSum sum = loss_and_gradient(hidden, batch.targets, options, with_backward, dtarget);
    if (!with_backward) return sum;

    backward(batch, {encoder_pass, decoder_pass}, encoded, source, dtarget);
    sum.loss += guided.loss;
    return sum;
  }

 private:
  struct Passes {
    const LayerPass& encoder;
    const LayerPass& decoder;
  };

  static GuidedLayer guided_layer(const TrainingBatch& batch, const PassOptions& options) {
    if (options.guided == nullptr) return {};
    const GuidedHeads& heads = *options.guided;
    return {heads.layer, {batch.links, heads.heads, heads.weight, options.gradient_scale}, 0, {}};
  }

  /// Runs the backward pass from dtarget [T, D], the gradient of the decoder's final states. The
  /// decoder layers add to the gradient of the encoder's output.
  void backward(const TrainingBatch& batch, const Passes& passes, const ConstMatrixRef& encoded,
                const ConstMatrixRef& source, MatrixRef dtarget) {
    MatrixRef dsource = dsource_.resize(source.rows(), source.cols());
    dsource.setZero();
    decoder_ends_.leave_backward(target_inputs_.back(), dtarget);
    for (std::size_t i = decoder_.size(); i-- > 0;) {
      decoder_[i].backward(target_inputs_[i], {source, dsource}, passes.decoder, dtarget);
    }
    decoder_ends_.enter_backward(batch.decoder_input, dtarget);
    encoder_ends_.leave_backward(encoded, dsource);
    MatrixRef drows = global_tokens_.leave_backward(dsource);
    for (std::size_t i = encoder_.size(); i-- > 0;) {
      encoder_[i].backward(source_inputs_[i], passes.encoder, drows);
    }
    global_tokens_.enter_backward(drows, dsource);
    encoder_ends_.enter_backward(batch.source, dsource);
  }

  /// Reads final_logits_bias for the loss classes, which is not trained; leaves it empty if it is
  /// all 0.
  void read_logits_bias() {
    const Parameter& bias = parameters_.logits_bias;
    logits_bias_.resize(0);
    if (bias.data == nullptr) return;
    RowVector numbers(output_.out());
    for (Index j = 0; j < numbers.size(); ++j) numbers[j] = bias.at(0, j);
    if (!numbers.isZero(0)) logits_bias_ = numbers;
  }

  void check(const TrainingBatch& batch) const {
    check_tokens(batch.source, config_.vocab_size, config_.max_positions, "source");
    check_tokens(batch.decoder_input, config_.decoder_vocab_size, config_.decoder_positions(),
                 "target");
    if (batch.source.sentences() != batch.decoder_input.sentences()) {
      throw std::logic_error("a batch needs as many targets as sources");
    }
  }

  /// Runs output layer and loss, a few rows at a time; dhidden becomes the gradient of `hidden`.
  /// Under R-Drop the second half of the rows repeats the tokens of the first, and each chunk holds
  /// the same rows of both.
  LossSum loss_and_gradient(const ConstMatrixRef& hidden, const std::vector<int>& targets,
                            const PassOptions& options, bool with_backward, MatrixRef dhidden) {
    const Index passes = options.r_drop > 0 ? 2 : 1;
    const Index tokens = hidden.rows() / passes;
    LossSum sum;
    for (Index first = 0; first < tokens; first += kLogitRows / passes) {
      const Index count = std::min(kLogitRows / passes, tokens - first);
      MatrixRef logits = logits_.resize(passes * count, output_.out());
      for (Index p = 0; p < passes; ++p) {
        output_.forward(hidden.middleRows(p * tokens + first, count),
                        logits.middleRows(p * count, count));
      }
      if (logits_bias_.size() > 0) logits.rowwise() += logits_bias_;
      const std::span<const int> part(targets.data() + first, to_size(count));
      sum += passes == 1
                 ? cross_entropy(logits, part, options.label_smoothing, options.gradient_scale)
                 : cross_entropy_r_drop(
                       logits, part,
                       {options.label_smoothing, options.r_drop, options.gradient_scale});
      if (!with_backward) continue;
      for (Index p = 0; p < passes; ++p) {
        const Index row = p * tokens + first;
        output_.backward(hidden.middleRows(row, count), logits.middleRows(p * count, count),
                         {dhidden.middleRows(row, count)});
      }
    }
    return sum;
  }

  const ModelConfig& config_;
  const ModelParameters& parameters_;
  const ModelParameters& gradient_;
  TrainableStackEnds encoder_ends_;
  TrainableStackEnds decoder_ends_;
  TrainableGlobalTokens global_tokens_;
  std::deque<TrainableEncoderLayer> encoder_;
  std::deque<TrainableDecoderLayer> decoder_;
  TrainableLinear output_;
  RowVector logits_bias_;  ///< [C] or [0]
  std::vector<ConstMatrixRef>
      source_inputs_;  ///< of every encoder layer, and the last one's output
  std::vector<ConstMatrixRef>
      target_inputs_;  ///< of every decoder layer, and the last one's output
  ActivationBuffer logits_;
  ActivationBuffer dsource_;  ///< [S, D]
  ActivationBuffer dtarget_;  ///< [T, D]
  TrainingScratch scratch_;
};

TrainingPass::TrainingPass(TrainableModel& model, Backend backend)
    : layers_(std::make_unique<Layers>(model, backend)) {}
TrainingPass::~TrainingPass() = default;

void TrainingPass::prepare() {
  layers_->prepare();
}

LossSum TrainingPass::run(const TrainingBatch& batch, const PassOptions& options) {
  const bool twice = options.r_drop > 0;
  if (twice) repeated_.set_repeated(batch);
  return layers_->run(twice ? repeated_ : batch, options, true);
}

LossSum TrainingPass::loss(const TrainingBatch& batch, float label_smoothing) {
  PassOptions options;
  options.label_smoothing = label_smoothing;
  options.dropout = false;
  return layers_->run(batch, options, false);
}

std::uint64_t activation_bytes(const ModelConfig& config, const BatchShape& batch) {
  const auto u = [](Index n) { return static_cast<double>(n); };
  const double d = u(config.d_model);
  const auto source = static_cast<double>(batch.source_tokens) +
                      static_cast<double>(batch.sentences) * u(config.global_tokens);
  const auto target = static_cast<double>(batch.target_tokens);
  // Weights are not kept for longer rows.
  const double row = static_cast<double>(std::min<std::uint64_t>(batch.longest, kShortRow));
  // Hidden matrices kept per row: non-ReLU activations keep their input too, gated ones also the
  // factor.
  const double hidden = config.gated ? 3 : config.activation == Activation::relu ? 1 : 2;
  const double ffn = u(std::max(config.encoder_ffn_dim, config.decoder_ffn_dim));
  const double e = u(config.encoder_inner_dim()),
               c = u(config.decoder_inner_dim());  // D in most models
  // Each layer keeps projections (3I), heads' outputs (I), two buffers (D) per residual, and the
  // hidden layer.
  const double encoder_layer =
      source * (4 * d + 4 * e + hidden * u(config.encoder_ffn_dim) + u(config.encoder_heads) * row);
  const double decoder_layer = target * (6 * d + 6 * c + hidden * u(config.decoder_ffn_dim) +
                                         2 * u(config.decoder_heads) * row) +
                               source * 2 * c;
  const double ends = (source + target) * (config.normalize_embedding ? 5 : 4) * d;
  const double shared = config.key_value_heads > 0 ? 3 : 0;  // their summed gradients
  const double scratch = std::max(source, target) *
                         (2 * d + (4 + shared) * std::max(e, c) + (config.gated ? 2 : 1) * ffn);
  const double logits = std::min(u(kLogitRows), target) * u(config.decoder_vocab_size);
  const double floats = u(config.encoder_layers) * encoder_layer +
                        u(config.decoder_layers) * decoder_layer + ends + scratch + logits;
  const double bytes = 4 * floats;
  return bytes < 0x1p63 ? static_cast<std::uint64_t>(bytes) : ~std::uint64_t{0};
}

}  // namespace attn
