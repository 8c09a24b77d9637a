// A model's parameters during training: all in one flat array, with their gradients in another of
// the same layout.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "model/parameters.h"
#include "model/transformer.h"

namespace attn {

/// Says if a model has memory for the gradients of its parameters. Explanations only need the
/// gradients of the embedded tokens.
enum class ParameterGradients { computed, none };

/// Weights and gradients. The optimizer sees two flat arrays; the layers see the same memory as
/// named matrices. Matrices precede vectors, in the visitor's order, so query, key and value
/// weights are contiguous and can be multiplied as one.
class TrainableModel {
 public:
  /// Initializes weights from the seed as random_model() does, and gradients to 0.
  TrainableModel(const ModelConfig& config, std::uint64_t seed);

  /// Copies the weights of `start`, whose shape must match this config; gradients are 0.
  TrainableModel(const ModelConfig& config, const Transformer& start,
                 ParameterGradients gradients = ParameterGradients::computed);

  const ModelConfig& config() const { return config_; }
  std::span<float> weights() { return {weights_->data(), size_}; }
  std::span<float> gradients() { return {gradients_.data(), gradients_.size()}; }
  const ModelParameters& parameters() const { return parameters_; }
  const ModelParameters& gradient_parameters() const { return gradient_parameters_; }

  /// A trained parameter with its weights and its gradient; tied ones appear once.
  struct TrainedParameter {
    const ParameterInfo& info;
    Parameter weight;
    Parameter gradient;
  };
  void visit(const std::function<void(const TrainedParameter&)>& visit);

  /// Returns a model for translation that shares the memory of these weights (weights() or an
  /// average of the same layout). After changing them, call this again.
  Transformer transformer(const std::shared_ptr<AlignedFloats>& weights, Backend backend) const;
  const std::shared_ptr<AlignedFloats>& shared_weights() const { return weights_; }

 private:
  /// Allocates uninitialized memory for weights and gradients.
  TrainableModel(const ModelConfig& config, ParameterGradients gradients);

  /// Binds the parameters: trained ones into `trained`, in the layout's order, or to no memory if
  /// it is null; sinusoids and the logits' bias into buffers_.
  ModelParameters bind(float* trained) const;

  ModelConfig config_;
  std::size_t size_ = 0;
  std::shared_ptr<AlignedFloats> weights_;
  AlignedFloats gradients_;  ///< empty if there are none
  std::shared_ptr<AlignedFloats> buffers_;
  ModelParameters parameters_;
  ModelParameters gradient_parameters_;
};

}  // namespace attn
