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

/// Returns the tensor table of a whole file; messages begin with `path`. Throws InputError for
/// every broken rule of the format: a header length beyond the file or 100 MB, a header that is not
/// a strict JSON object, nesting, duplicate names, unknown types or keys, shapes whose product
/// overflows, byte ranges that overlap, leave holes, disagree with shape and type or exceed the
/// file, and trailing bytes.
TensorTable read_safetensors_table(std::string_view bytes, const std::string& path);

/// An opened file, with its tensors in order of their bytes.
class SafetensorsFile : public TensorFile {
 public:
  /// Throws SystemError if the file cannot be read, and InputError as read_safetensors_table()
  /// does.
  explicit SafetensorsFile(const std::string& path) : TensorFile(path, read_safetensors_table) {}
};

// Writing the safetensors format.

/// A tensor to write. `fill` is called once, when its turn comes, and stores the elements in
/// row-major order of `shape`, so a large model is never held in memory twice.
struct TensorToWrite {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::function<void(float* out)> fill;
  std::optional<DType> dtype = std::nullopt;  ///< overrides the file's type; I8: integers
};

/// Writes a file atomically, in the layout that the reference library reads: the header is padded
/// with spaces to a multiple of 8 bytes and has {"format": "pt"} as metadata. F16 and BF16 round to
/// nearest even. Throws InputError naming the tensor if a finite value would round to infinity
/// (F16: from 65520). After an error nothing stays on disk.
void write_safetensors(const std::string& path, const std::vector<TensorToWrite>& tensors,
                       DType dtype);

}  // namespace attn
