#include "model/transformer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "base/at.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/random.h"
#include "config/patterns/sparse_pattern.h"
#include "model/global_tokens.h"
#include "model/layers.h"

namespace attn {
namespace {

/// T5's second feed-forward matmul stays in float32, as in transformers: its input has outliers a
/// thousand times as large as the rest, which one int8 scale per row would round to nothing.
Backend backend_of_second(const ModelConfig& config, Backend backend) {
  return config.norm == NormType::rms && backend == Backend::int8 ? Backend::panels : backend;
}

void prepare_feed_forward(FeedForward& layer, const ModelConfig& config,
                          const PreparationOptions& how) {
  const Backend second = backend_of_second(config, how.backend);
  if (second == how.backend) return layer.prepare(how);
  layer.first_packed = layer.first.prepare(how);
  if (layer.gated()) layer.gate_packed = layer.gate.prepare(how);
  PreparationOptions in_float = how;
  in_float.backend = second;
  layer.second_packed = layer.second.prepare(in_float);
}

/// Returns the size of all packed weights, each padded to whole panels.
std::size_t prepared_floats(const ModelConfig& config, const ModelParameters& parameters,
                            Backend backend) {
  std::size_t floats = 0;
  visit_parameters(config, parameters, [&](const ParameterInfo& info, const Parameter& p) {
    if (info.role == ParameterRole::weight) floats += attn::prepared_floats(p, backend);
  });
  const auto add_difference = [&](const auto& layers) {
    for (const auto& layer : layers) {
      const Parameter& second = layer.feed_forward.second.weight;
      floats += attn::prepared_floats(second, backend_of_second(config, backend)) -
                attn::prepared_floats(second, backend);
    }
  };
  add_difference(parameters.encoder_layers);
  add_difference(parameters.decoder_layers);
  if (sparse_pattern(config.encoder_attention)
          .shares_query_and_key()) {  // packed a second time, as keys
    for (const EncoderLayer& layer : parameters.encoder_layers) {
      floats += attn::prepared_floats(layer.self_attention.query.weight, backend);
    }
  }
  return floats + attn::prepared_floats(parameters.output.transposed(), backend);
}

}  // namespace

Transformer::Transformer(ModelConfig config, ModelParameters parameters, Storage storage,
                         Backend backend, const PackedCallback& when_packed)
    : config_(std::move(config)),
      parameters_(std::move(parameters)),
      storage_(std::move(storage)),
      backend_(backend) {
  FloatArena arena(prepared_floats(config_, parameters_, backend));
  const PreparationOptions how(backend, &arena, &when_packed);
  how.release({parameters_.output});  // packed last: a small model's peak is a quarter lower
  for (EncoderLayer& layer : parameters_.encoder_layers) {
    layer.self_attention.prepare_self(how);
    if (layer.global_attention.query.weight.exists()) {
      layer.global_attention.prepare_global(how);
    }
    prepare_feed_forward(layer.feed_forward, config_, how);
  }
  // Pack in the order of a decoder step, because each matmul prefetches the memory after its
  // weights.
  for (DecoderLayer& layer : parameters_.decoder_layers)
    layer.cross_attention.prepare_key_value(how);
  for (DecoderLayer& layer : parameters_.decoder_layers) {
    layer.self_attention.prepare_self(how);
    layer.cross_attention.prepare_cross(how);
    prepare_feed_forward(layer.feed_forward, config_, how);
  }
  output_product_ = PackedLinear({parameters_.output.transposed()}, {parameters_.logits_bias}, how);
}

EncodedSource Transformer::encode(const PackedTokens& source, AttentionObserver* observer) const {
  check_tokens(source, config_.vocab_size, config_.max_positions, "source");
  if (config_.global_tokens > 0) return encode_with_global_tokens(source, observer);
  const std::vector<AttentionGroup> groups =
      self_groups(source, /*causal=*/false, config_.encoder_attention.globals);
  const auto rows = std::ssize(source.ids);
  Workspace work;
  work.reserve(rows, config_, /*encoder=*/true, observer != nullptr);
  const AttentionPositionEncoding position_encoding(
      config_, parameters_.encoder, parameters_.encoder_layers, longest_sentence(source));
  const std::vector<Index> positions = positions_of(source);
  const StackRun run{config_, AttentionSite::encoder_self, groups,   {}, observer,
                     work,    position_encoding,           positions};

  Matrix x(rows, config_.d_model);  // [T, D] running through the stack
  embed_inputs(parameters_.encoder, run, source.ids, x);
  for (std::size_t i = 0; i < parameters_.encoder_layers.size(); ++i) {
    encoder_layer(parameters_.encoder_layers[i], to_index(i), run, x);
  }
  apply_final_norm(parameters_.encoder, run, x);
  return {std::move(x), source.offsets, source.key_padding_mask};
}

EncodedSource Transformer::encode_with_global_tokens(const PackedTokens& source,
                                                     AttentionObserver* observer) const {
  const Index globals = config_.global_tokens;
  const Index d_model = config_.d_model;
  std::optional<GlobalTokenFilter> seen;
  if (observer != nullptr) observer = &seen.emplace(*observer, globals, source.offsets);
  const GlobalTokenRows layout(source, globals);
  const std::vector<AttentionGroup> groups = layout.groups();
  Workspace work;
  work.reserve(layout.rows(), config_, /*encoder=*/true, observer != nullptr);
  const AttentionPositionEncoding
      position_encoding;  // no model class has both global tokens and these positions
  const std::vector<Index> positions = positions_of(source);
  const StackRun run{config_, AttentionSite::encoder_self, groups,   {}, observer,
                     work,    position_encoding,           positions};

  Matrix tokens(std::ssize(source.ids), d_model);  // [T, D] input and output of the layers
  Matrix x(layout.rows(), d_model);  // [T + B·G, D] with global rows before each sentence
  {
    StackRun entering = run;
    entering.observer = nullptr;
    embed_inputs(parameters_.encoder, entering, source.ids, tokens);
  }
  layout.prepend(parameters_.encoder.global_tokens, tokens, x);
  if (observer != nullptr) {
    MatrixRef writable = x;
    observer->stage_ready({AttentionSite::encoder_self, 0, Stage::embedded, x, &writable});
  }
  for (std::size_t i = 0; i < parameters_.encoder_layers.size(); ++i) {
    encoder_layer(parameters_.encoder_layers[i], to_index(i), run, x);
  }
  apply_final_norm(parameters_.encoder, run, x);
  layout.gather(x, tokens);
  return {std::move(tokens), source.offsets, source.key_padding_mask};
}

Matrix Transformer::decode(const PackedTokens& decoder_input, const EncodedSource& source,
                           AttentionObserver* observer) const {
  check_tokens(decoder_input, config_.decoder_vocab_size, config_.decoder_positions(), "target");
  if (decoder_input.offsets.size() != source.offsets.size()) {
    throw InputError("{} target sentences for {} source sentences", decoder_input.sentences(),
                     source.offsets.size() - 1);
  }
  const std::vector<AttentionGroup> self = self_groups(decoder_input, /*causal=*/true);
  const std::vector<AttentionGroup> cross =
      cross_groups(decoder_input, source.offsets, source.key_padding_mask);
  const auto rows = std::ssize(decoder_input.ids);
  Workspace work;
  work.reserve(rows, config_, /*encoder=*/false, observer != nullptr);
  const AttentionPositionEncoding position_encoding(
      config_, parameters_.decoder, parameters_.decoder_layers, longest_sentence(decoder_input));
  const std::vector<Index> positions = positions_of(decoder_input);
  const StackRun run{config_, AttentionSite::decoder_self, self,     cross, observer,
                     work,    position_encoding,           positions};

  Matrix x(rows, config_.d_model);  // [T, D] running through the stack
  Matrix keys_values(source.rows.rows(), 2 * config_.decoder_kv_dim());  // of one layer
  embed_inputs(parameters_.decoder, run, decoder_input.ids, x);
  for (std::size_t i = 0; i < parameters_.decoder_layers.size(); ++i) {
    const DecoderLayer& layer = parameters_.decoder_layers[i];
    layer.cross_attention.kv_projection(source.rows, keys_values);
    decoder_layer(layer, to_index(i), run, {keys_values}, x);
  }
  apply_final_norm(parameters_.decoder, run, x);
  return x;
}

void Transformer::logits(const ConstMatrixRef& hidden, MatrixRef out) const {
  output_product_(hidden, out);
}

namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// Counts the numbers of all parameters, including positions and half of a tied output's copy.
std::optional<std::uint64_t> numbers_of(const ModelConfig& config) {
  const auto parameters = count_parameters(config);
  const auto output =
      checked_product({to_size(config.decoder_vocab_size), to_size(config.d_model)});
  const auto positions =
      checked_product({to_size(std::max(config.max_positions, config.decoder_positions())),
                       to_size(config.d_model)});
  if (!parameters || !output || !positions) return std::nullopt;
  const auto sum = checked_add(*parameters, *output / 2);
  return sum ? checked_add(*sum, *positions) : std::nullopt;
}

}  // namespace

std::uint64_t prepared_bytes(const ModelConfig& config, Backend backend) {
  const auto numbers = numbers_of(config);
  if (!numbers) return kUnlimited;
  const bool mixed =
      backend == Backend::int8 && config.norm == NormType::rms;  // see backend_of_second()
  const bool halves = mixed || (backend == Backend::bfloat16 && cpu_multiplies_bfloat16());
  const std::uint64_t size = halves ? 2 : backend == Backend::int8 ? 1 : sizeof(float);
  return checked_multiply(*numbers, size).value_or(kUnlimited);
}

std::uint64_t model_bytes(const ModelConfig& config, Backend backend) {
  return checked_add(prepared_bytes(config, Backend::panels), prepared_bytes(config, backend))
      .value_or(kUnlimited);
}

namespace {

float bound_of(const ParameterInfo& info, const Parameter& p, const ModelConfig& config) {
  if (info.role == ParameterRole::weight) {
    return exact_sqrt(6.0 / static_cast<double>(p.rows + p.columns));
  }
  return exact_sqrt(3.0 / static_cast<double>(config.d_model));
}

/// Initializes a parameter; number i depends only on the seed, the parameter's name and i.
void initialise(const ParameterInfo& info, const Parameter& p, const ModelConfig& config,
                std::uint64_t seed) {
  float* data = p.data;
  const auto count = to_size(p.size());
  switch (info.role) {
    case ParameterRole::weight:
    case ParameterRole::embedding:
    case ParameterRole::global_tokens:
    case ParameterRole::relative_bias:
      fill_uniform(seed, info.name, bound_of(info, p, config), data, count);
      break;
    case ParameterRole::positions:
      if (config.static_positions) {
        Eigen::Map<Matrix>(data, p.rows, p.columns) = position_sinusoids(config, p.rows);
      } else {
        fill_uniform(seed, info.name, bound_of(info, p, config), data, count);
      }
      break;
    case ParameterRole::low_rank:
      fill_uniform(seed, info.name, 1.0F / exact_sqrt(static_cast<double>(p.columns)), data, count);
      break;
    case ParameterRole::rotations:
      fill_normal(seed, info.name, data, count);
      break;
    case ParameterRole::features: {
      const bool encoder = info.name.find("encoder.") != std::string::npos;
      const AttentionPattern& kind = encoder ? config.encoder_attention : config.decoder_attention;
      if (kind.orthogonal) {
        fill_orthogonal(seed, info.name, data, to_size(p.rows), to_size(p.columns));
      } else {
        fill_normal(seed, info.name, data, count);
      }
      break;
    }
    case ParameterRole::norm_weight:
      std::fill_n(data, count, 1.0F);
      break;
    case ParameterRole::bias:
    case ParameterRole::norm_bias:
    case ParameterRole::logits_bias:
      std::fill_n(data, count, 0.0F);
      break;
  }
  // The decoder starts from pad, which is never a word: CTranslate2 starts from a zero row.
  const Index zero = frozen_row(config);
  if (info.role == ParameterRole::embedding && zero >= 0 && zero < p.rows) {
    std::fill_n(data + zero * p.columns, p.columns, 0.0F);
  }
  if (info.role == ParameterRole::logits_bias && info.saved) data[config.pad_token_id] = -1e4F;
}

}  // namespace

void initialise_for_training(const ParameterInfo& info, const Parameter& p,
                             const ModelConfig& config, std::uint64_t seed) {
  initialise(info, p, config, seed);
  // A class that is never produced would add to a smoothed loss.
  if (info.role == ParameterRole::logits_bias && config.pad_token_id < loss_classes(config)) {
    p.data[config.pad_token_id] = 0.0F;
  }
  if (info.fused_projections == 1) return;
  const auto in = static_cast<double>(p.rows);
  const auto out = static_cast<double>(p.columns);
  const float share = exact_sqrt((in + out) / (in + info.fused_projections * out));
  for (Index i = 0; i < p.size(); ++i) p.data[i] *= share;
}

Transformer random_model(const ModelConfig& config, std::uint64_t seed, Backend backend) {
  require_memory(model_bytes(config, backend), "a random model of this shape");
  Transformer::Storage storage;
  std::map<std::string, Parameter> made;
  const auto make = [&](const ParameterInfo& info, Parameter& parameter) {
    if (!info.tied_to.empty()) {
      parameter = made.at(info.tied_to);
      return;
    }
    auto memory = std::make_shared<AlignedFloats>(to_size(info.elements()));
    storage.push_back(memory);
    parameter = made[info.name] = parameter_at(info, memory->data());
    initialise(info, parameter, config, seed);
  };
  ModelParameters parameters = bind_parameters(config, make);
  return {config, std::move(parameters), std::move(storage), backend};
}

}  // namespace attn
