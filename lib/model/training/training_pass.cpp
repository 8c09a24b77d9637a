#include "model/training/training_pass.h"

#include <algorithm>

#include "base/at.h"
#include "model/layers.h"
#include "model/training/trainable_stacks.h"
#include "nn/attention/tiled_attention.h"

namespace attn {
namespace {

/// Rows of logits at a time: those of the whole batch would be the largest matrix of the pass.
constexpr Index kLogitRows = 256;

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
    // Like the cross-entropies, each pass counts half.
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
        stacks_(model, backend),
        output_(first_classes(model.parameters().output, loss_classes(config_)),
                first_classes(model.gradient_parameters().output, loss_classes(config_)), backend) {
    read_logits_bias();
  }

  void prepare() {
    stacks_.prepare();
    output_.prepare();
    read_logits_bias();
  }

  LossSum run(const TrainingBatch& batch, const PassOptions& options, bool with_backward) {
    GuidedLayer guided = guided_layer(batch, options);
    const ConstMatrixRef hidden =
        stacks_.forward({.source = batch.source,
                         .decoder_input = batch.decoder_input,
                         .guided = options.guided != nullptr ? &guided : nullptr},
                        {options.dropout, options.seed, options.batch});
    MatrixRef dhidden = dhidden_.resize(hidden.rows(), hidden.cols());
    LossSum sum = loss_and_gradient(hidden, batch.targets, options, with_backward, dhidden);
    if (with_backward) stacks_.backward(dhidden);
    sum.loss += guided.loss;
    return sum;
  }

 private:
  static GuidedLayer guided_layer(const TrainingBatch& batch, const PassOptions& options) {
    if (options.guided == nullptr) return {};
    const GuidedHeads& heads = *options.guided;
    return {heads.layer, {batch.links, heads.heads, heads.weight, options.gradient_scale}, 0, {}};
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
  TrainableStacks stacks_;
  TrainableLinear output_;
  RowVector logits_bias_;  ///< [C] or [0]
  ActivationBuffer logits_;
  ActivationBuffer dhidden_;  ///< [T, D]
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
