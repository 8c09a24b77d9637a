// The safetensors format: 8 bytes of header length, a JSON header, then the tensors' bytes.
// https://github.com/huggingface/safetensors describes the rules; every one of them is checked
// before a tensor is handed out. (Writing: safetensors_write.h.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"

namespace attn {

enum class DType { f32, f16, bf16, i8, other };

struct TensorInfo {
  std::string name;
  DType dtype = DType::f32;
  std::string dtype_name;  ///< as written in the file: "F32", "I64"
  std::vector<std::uint64_t> shape;
  std::uint64_t elements = 0;
  std::size_t begin = 0;  ///< first byte, counted from the file's start
  std::size_t end = 0;    ///< one past the last byte
};

/// What the header of a file says, checked.
struct SafetensorsTable {
  std::vector<TensorInfo> tensors;  ///< in order of their bytes
  std::map<std::string, std::string> metadata;
};

/// The table of a whole file's bytes; `path` begins messages. InputError for every broken rule of
/// the format: header length beyond the file or 100 MB, header not a JSON object (strict), nesting,
/// duplicate names, unknown types or keys, shape products that wrap, byte ranges that overlap,
/// leave holes, disagree with shape and type or leave the file, trailing bytes.
SafetensorsTable read_safetensors_table(std::string_view bytes, const std::string& path);

/// An opened file: its map and its checked table of tensors.
class SafetensorsFile {
 public:
  /// SystemError where the file cannot be read, InputError as read_safetensors_table().
  explicit SafetensorsFile(const std::string& path);

  const std::vector<TensorInfo>& tensors() const { return table_.tensors; }
  const TensorInfo* find(std::string_view name) const;  ///< null where absent
  const std::map<std::string, std::string>& metadata() const { return table_.metadata; }
  const std::string& path() const { return map_.path(); }

  /// The raw bytes of a tensor, inside the map; at any address (the format promises no alignment,
  /// though its writers align to 8).
  std::byte* bytes(const TensorInfo& tensor) const { return map_.data() + tensor.begin; }

  /// Tensors whose bytes lie there are not read soon again (MappedFile::release).
  void release(std::span<const std::byte> bytes) const { map_.release(bytes); }

  /// Copies a tensor to `out` (tensor.elements floats), widening F16 and BF16. InputError for other
  /// types; what I8 means is the caller's to know.
  void read(const TensorInfo& tensor, float* out) const;

 private:
  MappedFile map_;
  SafetensorsTable table_;
  std::vector<std::size_t> by_name_;  ///< indices of table_.tensors in order of their names
};

}  // namespace attn
