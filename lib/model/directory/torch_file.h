// pytorch_model.bin: what torch.save has written since 1.6, a zip archive of the raw numbers and a
// pickle (data.pkl) that says which tensors they are. Nothing in it is executed: the pickle is read
// as data (pickle.h).
#pragma once

#include <string>
#include <string_view>

#include "model/directory/tensor_file.h"

namespace attn {

/// The table of a whole file's bytes; `path` begins messages. Tensors may be views of a storage
/// that they share, with strides and an offset. InputError for what is no table of tensors by name:
/// damaged archives (zip_entries.h), pickles that ask for anything but tensors (pickle.h), storages
/// that are missing, shorter than they say or than their tensors, big-endian numbers, names twice;
/// and for the format of before 1.6.
TensorTable read_torch_table(std::string_view bytes, const std::string& path);

/// An opened file; its tensors in the pickle's order.
class TorchFile : public TensorFile {
 public:
  /// SystemError where the file cannot be read, InputError as read_torch_table().
  explicit TorchFile(const std::string& path) : TensorFile(path, read_torch_table) {}
};

}  // namespace attn
