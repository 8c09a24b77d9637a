// Reads the weights of a model directory in every form that people have, model.safetensors or
// pytorch_model.bin, whole or in shards, and binds the tensors to the model's parameters.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/model_config.h"
#include "model/directory/tensor_file.h"
#include "model/transformer.h"

namespace attn {

/// The files of a directory's weights. One is there: of several forms the first of
/// model.safetensors, model.safetensors.index.json, pytorch_model.bin,
/// pytorch_model.bin.index.json, as transformers chooses; of an index come the index and then its
/// shards. Empty: there is none. InputError for an index that is none: expected are "weight_map"
/// and, in it, for each tensor the name of a file of the same directory; SystemError where it
/// cannot be read.
std::vector<std::string> weight_files(const std::string& directory);

/// All tensors of these files, opened.
class Weights {
 public:
  /// InputError where the directory has no weights, a shard is missing, lacks a tensor that the
  /// index puts there or holds one that it puts elsewhere, and as the files' readers.
  explicit Weights(const std::string& directory);

  /// In the files' order.
  const std::vector<const TensorInfo*>& tensors() const { return tensors_; }
  const TensorInfo* find(std::string_view name) const;  ///< null where absent
  const std::string& path() const { return path_; }     ///< of the file or of the index

  void read(const TensorInfo& tensor, float* out) const { read_tensor(tensor, path_, out); }

  /// As TensorFile::release, of whichever file it is.
  void release(std::span<const std::byte> bytes) const;

 private:
  void check_shards(const std::string& index) const;

  std::string path_;
  std::vector<TensorFile> files_;
  std::vector<const TensorInfo*> tensors_;
  std::vector<const TensorInfo*> by_name_;
};

// From the tensors of a model directory to the parameters of a model.

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
  std::string prefix_;           ///< what all of a class's names begin with
  bool prefix_missing_ = false;  ///< but not in this file
  Transformer::Storage storage_;
  std::map<std::string, Parameter> bound_;
  std::set<std::string> used_;
  std::vector<std::pair<const TensorInfo*, Parameter>> bound_tensors_;  ///< as one row
};

}  // namespace attn
