// An opened file of tensors: what the readers of safetensors and of PyTorch's files have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"

namespace attn {

enum class DType { f32, f16, bf16, i8, other };

inline constexpr std::size_t kMaxTensorDimensions = 8;

struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  std::string dtype_name;  ///< as safetensors calls it: "F32", "I64"
  std::vector<std::uint64_t> shape;
  std::uint64_t elements = 0;
  std::size_t begin = 0;  ///< first byte, counted from the file's start
  std::size_t end = 0;    ///< one past the last byte
  /// Of each dimension, in elements, where the elements do not follow one another in row-major
  /// order; else empty. Only PyTorch's files have such.
  std::vector<std::uint64_t> strides;
  std::byte* data = nullptr;  ///< its first byte in the map, once the file is open
};

/// What a file says of its tensors, checked.
struct TensorTable {
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::string> metadata;
};

/// Copies a tensor to `out` (tensor.elements floats) in row-major order, widening F16 and BF16.
/// InputError, beginning with `path`, for other types; what I8 means is the caller's to know.
void read_tensor(const TensorInfo& tensor, const std::string& path, float* out);

/// An opened file: its map and its checked table of tensors.
class TensorFile {
 public:
  /// The table of a whole file's bytes; the path begins messages.
  using ReadTable = TensorTable (*)(std::string_view bytes, const std::string& path);

  /// SystemError where the file cannot be read, errors of `read_table`.
  TensorFile(const std::string& path, ReadTable read_table);

  const std::vector<TensorInfo>& tensors() const { return table_.tensors; }
  const TensorInfo* find(std::string_view name) const;  ///< null where absent
  const std::map<std::string, std::string>& metadata() const { return table_.metadata; }
  const std::string& path() const { return map_.path(); }

  /// The raw bytes of a tensor, inside the map; at any address (no format promises an alignment,
  /// though writers align to 8 or 64).
  std::byte* bytes(const TensorInfo& tensor) const { return tensor.data; }

  /// Tensors whose bytes lie there are not read soon again (MappedFile::release).
  void release(std::span<const std::byte> bytes) const { map_.release(bytes); }

  void read(const TensorInfo& tensor, float* out) const { read_tensor(tensor, path(), out); }

 private:
  MappedFile map_;
  TensorTable table_;
  std::vector<std::size_t> by_name_;  ///< indices of table_.tensors in order of their names
};

}  // namespace attn
