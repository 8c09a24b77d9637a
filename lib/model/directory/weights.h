// The weights of a model directory: model.safetensors or pytorch_model.bin, in one file or in
// shards.
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

/// Returns the files of a directory's weights, or nothing if there are none. If there are several
/// forms, the first of these is used, as in transformers: model.safetensors,
/// model.safetensors.index.json, pytorch_model.bin, pytorch_model.bin.index.json. For an index,
/// returns the index followed by its shards. Throws InputError for an invalid index (it needs a
/// "weight_map" from each tensor to a file in the same directory), and SystemError if it cannot be
/// read.
std::vector<std::string> weight_files(const std::string& directory);

/// All tensors of a directory's weight files, opened.
class Weights {
 public:
  /// Throws InputError if the directory has no weights, or if a shard is missing, lacks a tensor
  /// that the index assigns to it, or holds one that the index assigns elsewhere; and whatever the
  /// file readers throw.
  explicit Weights(const std::string& directory);

  /// All tensors, in the files' order.
  const std::vector<const TensorInfo*>& tensors() const { return tensors_; }
  const TensorInfo* find(std::string_view name) const;  ///< null if absent
  const std::string& path() const { return path_; }     ///< path of the file or of the index

  void read(const TensorInfo& tensor, float* out) const { read_tensor(tensor, path_, out); }

  /// Releases pages like TensorFile::release(), in the file that holds `bytes`.
  void release(std::span<const std::byte> bytes) const;

 private:
  void check_shards(const std::string& index) const;

  std::string path_;
  std::vector<TensorFile> files_;
  std::vector<const TensorInfo*> tensors_;
  std::vector<const TensorInfo*> by_name_;
};

// Binding the tensors of a model directory to the parameters of a model.

/// Binds a model's parameters to its weight tensors by name.
class TensorBinder {
 public:
  /// `config` must outlive the binder.
  TensorBinder(const ModelConfig& config, std::shared_ptr<const Weights> weights);

  /// Points `parameter` at the tensor in the mapped file, or at a copy. Throws InputError if the
  /// tensor is missing (naming the nearest one present) or has another shape than `info`.
  void bind(const ParameterInfo& info, Parameter& parameter);

  /// Throws InputError, naming the first in file order, if a bound number is NaN or infinite.
  void check_finite() const;

  /// Returns the names of tensors that were never bound.
  std::vector<std::string> unused() const;

  /// Hands over the memory that the bound parameters point into.
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
  std::string prefix_;           ///< common prefix of all names of a class
  bool prefix_missing_ = false;  ///< true if this file's names lack it
  Transformer::Storage storage_;
  std::map<std::string, Parameter> bound_;
  std::set<std::string> used_;
  std::vector<std::pair<const TensorInfo*, Parameter>> bound_tensors_;  ///< each as one row
};

}  // namespace attn
