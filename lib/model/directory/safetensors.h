// The safetensors format: 8 bytes of header length, a JSON header, then the tensors' bytes.
// https://github.com/huggingface/safetensors has the rules. All of them are checked before a tensor
// is used. safetensors_write.cpp writes the format.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// Writing the safetensors format.

/// One tensor to be written; `fill` is called once, when its turn comes, and puts the elements in
/// row-major order of `shape`: a large model is never held a second time as a whole.
struct TensorToWrite {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::function<void(float* out)> fill;
  std::optional<DType> dtype = std::nullopt;  ///< where it is not the file's; I8: whole numbers
};

/// Writes a file atomically in the layout that the reference library reads: header padded with
/// blanks to a multiple of 8 bytes, {"format": "pt"} as metadata. F16 and BF16 round to nearest
/// even; a finite value that would round to infinity (F16: from 65520) is an InputError naming the
/// tensor. Nothing stays on disk after an error.
void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       DType dtype);

}  // namespace attn
