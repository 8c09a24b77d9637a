// Writing the safetensors format.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/directory/safetensors.h"

namespace attn {

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
