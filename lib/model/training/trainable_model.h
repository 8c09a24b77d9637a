// A model's parameters as training keeps them: all in one row of numbers, with their gradients in
// another of the same layout.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "model/parameters.h"
#include "model/transformer.h"

namespace attn {

/// Weights and gradients. The optimizer sees two flat arrays; the layers see the same memory as
/// named matrices. Matrices come before vectors, in the order of the visitor, so that query, key
/// and value weights follow one another and can be multiplied as one.
class TrainableModel {
 public:
  /// Weights from the seed as random_model() makes them, gradients 0.
  TrainableModel(const ModelConfig& config, std::uint64_t seed);

  /// With the weights of `start`, whose shape is this config's; gradients 0.
  TrainableModel(const ModelConfig& config, const Transformer& start);

  const ModelConfig& config() const { return config_; }
  std::span<float> weights() { return {weights_->data(), size_}; }
  std::span<float> gradients() { return {gradients_.data(), size_}; }
  const ModelParameters& parameters() const { return parameters_; }
  const ModelParameters& gradient_parameters() const { return gradient_parameters_; }

  /// Every trained parameter, tied ones once, with its weights and its gradient.
  struct TrainedParameter {
    const ParameterInfo& info;
    Parameter weight;
    Parameter gradient;
  };
  void visit(const std::function<void(const TrainedParameter&)>& visit);

  /// A model for translating with these weights (weights() or an average of the same layout), whose
  /// memory it shares: change them and make it anew.
  Transformer transformer(const std::shared_ptr<AlignedFloats>& weights, Backend backend) const;
  const std::shared_ptr<AlignedFloats>& shared_weights() const { return weights_; }

 private:
  /// Memory for weights and gradients; nothing in it yet.
  explicit TrainableModel(const ModelConfig& config);

  /// `trained` in the layout's order; sinusoids and the bias of the logits from buffers_.
  ModelParameters bind(float* trained) const;

  ModelConfig config_;
  std::size_t size_ = 0;
  std::shared_ptr<AlignedFloats> weights_;
  AlignedFloats gradients_;
  std::shared_ptr<AlignedFloats> buffers_;
  ModelParameters parameters_;
  ModelParameters gradient_parameters_;
};

}  // namespace attn
