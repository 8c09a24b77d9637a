#include "model/training/trainable_model.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/at.h"
#include "compute/threads.h"
#include "model/transformer.h"

namespace attn {
namespace {

/// The offset of each parameter: trained ones, matrices first, and fixed ones in separate memory.
struct Layout {
  std::map<std::string, std::size_t> trained;
  std::map<std::string, std::size_t> fixed;
  std::size_t trained_size = 0;
  std::size_t fixed_size = 0;

  explicit Layout(const ModelConfig& config) {
    const std::vector<ParameterInfo> all = list_parameters(config);
    for (const bool matrices : {true, false}) {
      for (const ParameterInfo& info : all) {
        if (!info.tied_to.empty() || (info.shape.size() == 2) != matrices) continue;
        std::size_t& size = info.buffer ? fixed_size : trained_size;
        (info.buffer ? fixed : trained)[info.name] = size;
        size += to_size(info.elements());
      }
    }
  }
};

/// Copies a weight to memory in the file's order: one of both strides is 1.
void copy_numbers(const Parameter& from, const Parameter& to) {
  const bool by_columns = to.row_stride == 1;
  const Parameter source = by_columns ? from : from.transposed();
  const Index stride = by_columns ? to.column_stride : to.row_stride;
  parallel_for(source.columns, source.size(),
               [&](Index j) { source.copy_column(j, to.data + j * stride); });
}

}  // namespace

TrainableModel::TrainableModel(const ModelConfig& config, ParameterGradients gradients)
    : config_(config) {
  const Layout layout(config);
  size_ = layout.trained_size;
  weights_ = std::make_shared<AlignedFloats>(size_);
  buffers_ = std::make_shared<AlignedFloats>(layout.fixed_size);
  if (gradients == ParameterGradients::computed) {
    gradients_ = AlignedFloats(size_);
    std::fill_n(gradients_.data(), size_, 0.0F);
  }
  parameters_ = bind(weights_->data());
  gradient_parameters_ = bind(gradients_.data());
}

TrainableModel::TrainableModel(const ModelConfig& config, std::uint64_t seed)
    : TrainableModel(config, ParameterGradients::computed) {
  visit_parameters(config_, parameters_, [&](const ParameterInfo& info, const Parameter& p) {
    if (info.tied_to.empty()) initialise_for_training(info, p, config_, seed);
  });
}

TrainableModel::TrainableModel(const ModelConfig& config, const Transformer& start,
                               ParameterGradients gradients)
    : TrainableModel(config, gradients) {
  std::vector<Parameter> from;
  visit_parameters(config, start.parameters(),
                   [&](const ParameterInfo&, const Parameter& p) { from.push_back(p); });
  std::size_t index = 0;
  visit_parameters(config_, parameters_, [&](const ParameterInfo& info, const Parameter& p) {
    const Parameter& weight = from.at(index++);
    if (!info.tied_to.empty()) return;
    copy_numbers(weight, p);
  });
}

ModelParameters TrainableModel::bind(float* trained) const {
  const Layout layout(config_);
  std::map<std::string, Parameter> made;
  return bind_parameters(config_, [&](const ParameterInfo& info, Parameter& parameter) {
    if (!info.tied_to.empty()) {
      parameter = made.at(info.tied_to);
      return;
    }
    float* data = trained;
    if (info.buffer) {
      data = buffers_->data() + layout.fixed.at(info.name);
    } else if (trained != nullptr) {
      data = trained + layout.trained.at(info.name);
    }
    parameter = made[info.name] = parameter_at(info, data);
  });
}

void TrainableModel::visit(const std::function<void(const TrainedParameter&)>& visit) {
  std::vector<Parameter> gradients;
  visit_parameters(config_, gradient_parameters_,
                   [&](const ParameterInfo&, const Parameter& p) { gradients.push_back(p); });
  std::size_t index = 0;
  visit_parameters(config_, parameters_, [&](const ParameterInfo& info, const Parameter& p) {
    const Parameter gradient = gradients[index++];
    if (info.tied_to.empty() && !info.buffer) visit({info, p, gradient});
  });
}

Transformer TrainableModel::transformer(const std::shared_ptr<AlignedFloats>& weights,
                                        Backend backend) const {
  return {config_, bind(weights->data()), {weights, buffers_}, backend};
}

}  // namespace attn
