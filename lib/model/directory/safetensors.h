// The safetensors format: 8 bytes of header length, a JSON header, then the tensors' bytes.
// https://github.com/huggingface/safetensors describes the rules; every one of them is checked
// before a tensor is handed out. (Writing: safetensors_write.h.)
#pragma once

#include <string>
#include <string_view>

#include "model/directory/tensor_file.h"

namespace attn {

/// The table of a whole file's bytes; `path` begins messages. InputError for every broken rule of
/// the format: header length beyond the file or 100 MB, header not a JSON object (strict), nesting,
/// duplicate names, unknown types or keys, shape products that wrap, byte ranges that overlap,
/// leave holes, disagree with shape and type or leave the file, trailing bytes.
TensorTable read_safetensors_table(std::string_view bytes, const std::string& path);

/// An opened file; its tensors in order of their bytes.
class SafetensorsFile : public TensorFile {
 public:
  /// SystemError where the file cannot be read, InputError as read_safetensors_table().
  explicit SafetensorsFile(const std::string& path) : TensorFile(path, read_safetensors_table) {}
};

}  // namespace attn
