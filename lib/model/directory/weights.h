// The weights of a model directory, in every form that people have: model.safetensors or
// pytorch_model.bin, whole or in shards.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/directory/tensor_file.h"

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

}  // namespace attn
