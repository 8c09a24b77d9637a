#include "compute/parameter.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace attn {
namespace {

/// A product walks through megabytes in strides; with pages of 4 kB it would look up an address
/// more often than it multiplies. The system may say no.
void ask_for_huge_pages(float* data, std::size_t bytes) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (address + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t last = (address + bytes) / kHugePage * kHugePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace

AlignedFloats::AlignedFloats(std::size_t count) : size_(count) {
  const std::size_t bytes = std::max<std::size_t>(count, 1) * sizeof(float);
  data_.reset(static_cast<float*>(::operator new (bytes, std::align_val_t{64})));
  ask_for_huge_pages(data_.get(), bytes);
}

void AlignedFloats::Free::operator()(float* p) const {
  ::operator delete (p, std::align_val_t{64});
}

}  // namespace attn
