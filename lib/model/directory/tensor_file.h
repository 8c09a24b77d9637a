// An opened file of tensors: the common part of the readers of safetensors and PyTorch files.
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
  std::string dtype_name;  ///< in safetensors' spelling: "F32", "I64"
  std::vector<std::uint64_t> shape;
  std::uint64_t elements = 0;
  std::size_t begin = 0;  ///< offset of the first byte in the file
  std::size_t end = 0;    ///< offset one past the last byte
  /// The stride of each dimension, in elements. Empty if the elements are contiguous in row-major
  /// order; only PyTorch's files have others.
  std::vector<std::uint64_t> strides;
  std::byte* data = nullptr;  ///< first byte in the map, once the file is open
};

/// The checked tensor table of a file.
struct TensorTable {
  std::vector<TensorInfo> tensors;
  std::map<std::string, std::string> metadata;
};

/// Copies a tensor to `out` (tensor.elements floats) in row-major order, widening F16 and BF16.
/// Throws InputError, beginning with `path`, for other types; callers interpret I8 themselves.
void read_tensor(const TensorInfo& tensor, const std::string& path, float* out);

/// An opened file: its memory map and its checked tensor table.
class TensorFile {
 public:
  /// Returns the table of a whole file's bytes; messages begin with the path.
  using ReadTable = TensorTable (*)(std::string_view bytes, const std::string& path);

  /// Throws SystemError if the file cannot be read, and whatever `read_table` throws.
  TensorFile(const std::string& path, ReadTable read_table);

  const std::vector<TensorInfo>& tensors() const { return table_.tensors; }
  const TensorInfo* find(std::string_view name) const;  ///< null if absent
  const std::map<std::string, std::string>& metadata() const { return table_.metadata; }
  const std::string& path() const { return map_.path(); }

  /// Returns a tensor's raw bytes inside the map. They may be unaligned: no format promises an
  /// alignment, though writers align to 8 or 64.
  std::byte* bytes(const TensorInfo& tensor) const { return tensor.data; }

  /// Tells the system that these bytes will not be read again soon (MappedFile::release).
  void release(std::span<const std::byte> bytes) const { map_.release(bytes); }

  void read(const TensorInfo& tensor, float* out) const { read_tensor(tensor, path(), out); }

 private:
  MappedFile map_;
  TensorTable table_;
  std::vector<std::size_t> by_name_;  ///< indices into table_.tensors, sorted by name
};

}  // namespace attn
