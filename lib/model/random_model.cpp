#include "model/random_model.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/at.h"
#include "base/memory.h"
#include "base/numbers/random_normal.h"
#include "base/random.h"
#include "model/layers.h"
#include "model/model_memory.h"

namespace attn {
namespace {

float bound_of(const ParameterInfo& info, const Parameter& p, const ModelConfig& config) {
  if (info.role == ParameterRole::weight) {
    return exact_sqrt(6.0 / static_cast<double>(p.rows + p.columns));
  }
  return exact_sqrt(3.0 / static_cast<double>(config.d_model));
}

/// Number i depends on the seed, the parameter's name and i alone.
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
  // The decoder starts from pad: CTranslate2 starts from a zero row there, and pad is never a word.
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
  // A class that nothing ever is to produce would weigh on a smoothed loss.
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
