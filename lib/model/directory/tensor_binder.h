// From the tensors of a model directory to the parameters of a model.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/model_config.h"
#include "model/directory/weights.h"
#include "model/transformer.h"

namespace attn {

/// Binds the parameters of a model to the tensors of its weights, by their names.
class TensorBinder {
 public:
  /// `config` outlives it.
  TensorBinder(const ModelConfig& config, std::shared_ptr<const Weights> weights);

  /// Gives `parameter` its values: the tensor's where it lies in a mapped file, or a copy.
  /// InputError where it is missing (naming the nearest present) or has another shape than `info`.
  void bind(const ParameterInfo& info, Parameter& parameter);

  /// InputError where a bound number is NaN or infinite: the first by order of the file is named.
  void check_finite() const;

  /// Names of the tensors that nothing was bound to.
  std::vector<std::string> unused() const;

  /// What the bound parameters point into.
  Transformer::Storage take_storage() { return std::move(storage_); }

 private:
  std::vector<std::string> names() const;
  const TensorInfo* find(const std::string& name) const;
  const TensorInfo* find_tied_copy(const ParameterInfo& info) const;
  void check_shape(const ParameterInfo& info, const TensorInfo& tensor) const;
  Parameter take(const ParameterInfo& info, const TensorInfo& tensor);
  const float* read_scales(const ParameterInfo& info, const TensorInfo& tensor);
  Parameter make_default(const ParameterInfo& info);
  float* allocate(std::uint64_t elements);

  const ModelConfig& config_;
  std::shared_ptr<const Weights> weights_;
  std::string prefix_;   ///< what all of a class's names begin with
  bool prefix_missing_ = false;  ///< but not in this file
  Transformer::Storage storage_;
  std::map<std::string, Parameter> bound_;
  std::set<std::string> used_;
  std::vector<std::pair<const TensorInfo*, Parameter>> bound_tensors_;  ///< as one row
};

}  // namespace attn
