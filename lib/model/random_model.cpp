#include <map>

#include "base/random.h"
#include "model/initialise.h"
#include "model/model_directory.h"
#include "nn/embedding.h"

namespace attn {
namespace {

float bound_of(const ParameterInfo& info, const ModelConfig& config) {
  const Parameter& p = *info.parameter;
  if (info.role == ParameterRole::weight) {
    return exact_sqrt(6.0 / static_cast<double>(p.rows + p.columns));
  }
  return exact_sqrt(3.0 / static_cast<double>(config.d_model));
}

}  // namespace

void initialise(const ParameterInfo& info, const ModelConfig& config, std::uint64_t seed) {
  const Parameter& p = *info.parameter;
  float* data = p.data;
  const auto count = static_cast<std::size_t>(p.size());
  switch (info.role) {
    case ParameterRole::weight:
    case ParameterRole::embedding:
      fill_uniform(seed, info.name, bound_of(info, config), data, count);
      break;
    case ParameterRole::positions:
      if (config.static_positions) {
        Eigen::Map<Matrix>(data, p.rows, p.columns) = sinusoids(p.rows, p.columns);
      } else {
        fill_uniform(seed, info.name, bound_of(info, config), data, count);
      }
      break;
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
  if (info.role == ParameterRole::embedding && config.pad_token_id < p.rows) {
    std::fill_n(data + config.pad_token_id * p.columns, p.columns, 0.0F);
  }
  if (info.role == ParameterRole::logits_bias) data[config.pad_token_id] = -1e4F;
}

void initialise_for_training(const ParameterInfo& info, const ModelConfig& config,
                             std::uint64_t seed) {
  initialise(info, config, seed);
  if (info.side_by_side == 1) return;
  const Parameter& p = *info.parameter;
  const auto in = static_cast<double>(p.rows);
  const auto out = static_cast<double>(p.columns);
  const float share = exact_sqrt((in + out) / (in + info.side_by_side * out));
  for (Index i = 0; i < p.size(); ++i) p.data[i] *= share;
}

Transformer random_model(const ModelConfig& config, std::uint64_t seed, Backend backend) {
  require_memory(model_bytes(config), "a random model of this shape");
  ModelParameters parameters;
  Transformer::Storage storage;
  std::map<std::string, Parameter> made;
  visit_parameters(config, parameters, [&](const ParameterInfo& info) {
    if (!info.tied_to.empty()) {
      *info.parameter = made.at(info.tied_to);
      return;
    }
    const Index rows = info.shape.size() == 2 ? static_cast<Index>(info.shape[0]) : 1;
    const Index columns = static_cast<Index>(info.shape.back());
    auto memory = std::make_shared<AlignedFloats>(static_cast<std::size_t>(rows * columns));
    const Parameter in_file_order = row_major(memory->data(), rows, columns);
    storage.push_back(memory);
    *info.parameter = info.transposed ? in_file_order.transposed() : in_file_order;
    initialise(info, config, seed);
    made[info.name] = *info.parameter;
  });
  return {config, std::move(parameters), std::move(storage), backend};
}

}  // namespace attn
