#include "model/directory/tensor_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "compute/half.h"

namespace attn {

static_assert(std::endian::native == std::endian::little, "files of tensors are little-endian");

namespace {

/// Widens `count` contiguous elements; they need no alignment.
void widen(DType dtype, const std::byte* source, std::uint64_t count, float* out) {
  if (dtype == DType::f32) {
    std::memcpy(out, source, to_size(count) * sizeof(float));
  } else {
    const auto format = dtype == DType::f16 ? half::Format::f16 : half::Format::bf16;
    half::widen(format, source, to_index(count), out);
  }
}

/// Copies all elements in row-major order, following the strides with one index per dimension.
void gather(const TensorInfo& tensor, float* out) {
  const std::uint64_t width = tensor.dtype == DType::f32 ? 4 : 2;
  std::vector<std::uint64_t> place(tensor.shape.size());
  std::uint64_t at = 0;  // in elements, counted from the first
  for (std::uint64_t i = 0; i < tensor.elements; ++i) {
    widen(tensor.dtype, tensor.data + at * width, 1, out + i);
    for (std::size_t d = place.size(); d-- > 0;) {
      at += tensor.strides[d];
      if (++place[d] < tensor.shape[d]) break;
      at -= tensor.strides[d] * tensor.shape[d];
      place[d] = 0;
    }
  }
}

}  // namespace

void read_tensor(const TensorInfo& tensor, const std::string& path, float* out) {
  if (tensor.elements == 0) return;
  if (tensor.dtype == DType::i8 || tensor.dtype == DType::other) {
    throw InputError("{}: tensor '{}': dtype is {}, expected F32, F16 or BF16", printable(path),
                     excerpt(tensor.name), tensor.dtype_name);
  }
  if (!tensor.strides.empty()) return gather(tensor, out);
  widen(tensor.dtype, tensor.data, tensor.elements, out);
}

TensorFile::TensorFile(const std::string& path, ReadTable read_table)
    : map_(path),
      table_(read_table({reinterpret_cast<const char*>(map_.data()), map_.size()}, path)) {
  for (TensorInfo& tensor : table_.tensors) tensor.data = map_.data() + tensor.begin;
  by_name_.resize(tensors().size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::ranges::sort(by_name_, {},
                    [&](std::size_t i) -> const std::string& { return tensors()[i].name; });
}

const TensorInfo* TensorFile::find(std::string_view name) const {
  const auto name_of = [&](std::size_t i) -> std::string_view { return tensors()[i].name; };
  const auto found = std::ranges::lower_bound(by_name_, name, {}, name_of);
  return found == by_name_.end() || name_of(*found) != name ? nullptr : &tensors()[*found];
}

}  // namespace attn
