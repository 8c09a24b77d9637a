#include "compute/parameter.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace attn {
namespace {

/// Requests huge pages. A matmul strides through megabytes, and with 4 kB pages it would look up
/// addresses more often than it multiplies. The system may refuse.
void ask_for_huge_pages(float* data, std::size_t bytes) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t before = (kHugePage - address % kHugePage) % kHugePage;
  if (before >= bytes) return;
  const std::uintptr_t whole = (bytes - before) / kHugePage * kHugePage;
  if (whole > 0) madvise(reinterpret_cast<std::byte*>(data) + before, whole, MADV_HUGEPAGE);
}

}  // namespace

void Parameter::copy_column(Index j, Index first, Index count, float* out) const {
  if (data != nullptr && row_stride == 1) {
    std::copy_n(data + first + j * column_stride, count, out);
    return;
  }
  if (data == nullptr && scales == nullptr && row_stride == 1) {
    half::widen(format, narrow + 2 * (first + j * column_stride), count, out);
    return;
  }
  if (scales != nullptr && row_stride == 1 && !scales_of_rows) {
    const auto* from = reinterpret_cast<const signed char*>(narrow) + first + j * column_stride;
    for (Index i = 0; i < count; ++i) out[i] = scales[j] * static_cast<float>(from[i]);
    return;
  }
  for (Index i = 0; i < count; ++i) out[i] = at(first + i, j);
}

Parameter Parameter::columns_from(Index first, Index count) const {
  const Index skipped = first * column_stride;
  Parameter part = *this;
  part.columns = count;
  if (data != nullptr) part.data += skipped;
  if (narrow != nullptr) part.narrow += skipped * narrow_bytes();
  if (scales != nullptr && !scales_of_rows) part.scales += first;
  return part;
}

AlignedFloats::AlignedFloats(std::size_t count) : size_(count) {
  const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(float);
  constexpr std::align_val_t kLine{64};
  data_.reset(static_cast<float*>(::operator new(bytes, kLine)),
              [](float* p) { ::operator delete(p, kLine); });
  ask_for_huge_pages(data_.get(), bytes);
}

void AlignedFloats::reserve(std::size_t count) {
  if (data_ != nullptr && size_ >= count) return;
  *this = AlignedFloats();  // free first, so that old and new memory never coexist
  *this = AlignedFloats(count);
}

FloatArena::FloatArena(std::size_t count) : memory_(count) {}

AlignedFloats AlignedFloats::part(std::size_t first, std::size_t count) const {
  AlignedFloats taken;
  taken.data_ = {data_, data() + first};
  taken.size_ = count;
  return taken;
}

AlignedFloats FloatArena::take(std::size_t count) {
  constexpr std::size_t kLine = 16;  // floats per cache line
  const std::size_t rounded = (count + kLine - 1) / kLine * kLine;
  if (rounded > memory_.size() - used_) return AlignedFloats(count);
  used_ += rounded;
  return memory_.part(used_ - rounded, count);
}

}  // namespace attn
