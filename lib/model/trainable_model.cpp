#include "model/trainable_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "model/initialise.h"

namespace attn {
namespace {

bool is_trained(const ParameterInfo& info, const ModelConfig& config) {
  if (info.role == ParameterRole::logits_bias) return false;
  return info.role != ParameterRole::positions || !config.static_positions;
}

std::size_t count_of(const ParameterInfo& info) {
  std::size_t count = 1;
  for (const std::uint64_t n : info.shape) count *= static_cast<std::size_t>(n);
  return count;
}

/// Where each parameter lies: trained ones, matrices first, and fixed ones in a memory of their
/// own.
struct Layout {
  std::map<std::string, std::size_t> trained;
  std::map<std::string, std::size_t> fixed;
  std::size_t trained_size = 0;
  std::size_t fixed_size = 0;

  explicit Layout(const ModelConfig& config) {
    ModelParameters unused;
    for (const bool matrices : {true, false}) {
      visit_parameters(config, unused, [&](const ParameterInfo& info) {
        if (!info.tied_to.empty() || (info.shape.size() == 2) != matrices) return;
        const bool is = is_trained(info, config);
        std::size_t& size = is ? trained_size : fixed_size;
        (is ? trained : fixed)[info.name] = size;
        size += count_of(info);
      });
    }
  }
};

Parameter parameter_at(const ParameterInfo& info, float* data) {
  const Index rows = info.shape.size() == 2 ? static_cast<Index>(info.shape[0]) : 1;
  const Parameter lying = row_major(data, rows, static_cast<Index>(info.shape.back()));
  return info.transposed ? lying.transposed() : lying;
}

}  // namespace

std::uint64_t count_trained(const ModelConfig& config) {
  return Layout(config).trained_size;
}

TrainableModel::TrainableModel(const ModelConfig& config, std::uint64_t seed) : config_(config) {
  if (config.pad_token_id != config.decoder_vocab_size - 1) {
    throw InputError(
        "training needs <pad> to be the last id of the target vocabulary, {}, and it is {}; make "
        "the tokenizer with attn-demo tokenizer",
        config.decoder_vocab_size - 1, config.pad_token_id);
  }
  const Layout layout(config);
  size_ = layout.trained_size;
  weights_ = std::make_shared<AlignedFloats>(size_);
  gradients_ = AlignedFloats(size_);
  fixed_ = std::make_shared<AlignedFloats>(layout.fixed_size);
  std::fill_n(gradients_.data(), size_, 0.0F);
  parameters_ = bind(weights_->data());
  gradient_parameters_ = bind(gradients_.data());
  visit_parameters(config_, parameters_, [&](const ParameterInfo& info) {
    if (info.tied_to.empty()) initialise_for_training(info, config_, seed);
  });
}

ModelParameters TrainableModel::bind(float* trained) const {
  const Layout layout(config_);
  ModelParameters bound;
  std::map<std::string, Parameter> made;
  visit_parameters(config_, bound, [&](const ParameterInfo& info) {
    if (!info.tied_to.empty()) {
      *info.parameter = made.at(info.tied_to);
      return;
    }
    const auto found = layout.trained.find(info.name);
    float* data = found != layout.trained.end() ? trained + found->second
                                                : fixed_->data() + layout.fixed.at(info.name);
    *info.parameter = made[info.name] = parameter_at(info, data);
  });
  return bound;
}

void TrainableModel::visit(const std::function<void(const Trained&)>& visit) {
  std::vector<Parameter> gradients;
  visit_parameters(config_, gradient_parameters_,
                   [&](const ParameterInfo& info) { gradients.push_back(*info.parameter); });
  std::size_t index = 0;
  visit_parameters(config_, parameters_, [&](const ParameterInfo& info) {
    const Parameter gradient = gradients[index++];
    if (info.tied_to.empty() && is_trained(info, config_)) {
      visit({info, *info.parameter, gradient});
    }
  });
}

Transformer TrainableModel::transformer(const std::shared_ptr<AlignedFloats>& weights,
                                        Backend backend) const {
  return {config_, bind(weights->data()), {weights, fixed_}, backend};
}

}  // namespace attn
