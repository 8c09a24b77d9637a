// Four floats as a compiler vector. Included only by the kernels' headers: everything is in an
// unnamed namespace and compiled for the including file's instruction set.
#pragma once

namespace attn {
namespace {

using Four = float __attribute__((vector_size(16)));

/// Loads four floats, which may be unaligned.
inline Four load_four(const float* p) {
  Four x;
  __builtin_memcpy(&x, p, sizeof x);
  return x;
}
inline void store_four(Four x, float* p) {
  __builtin_memcpy(p, &x, sizeof x);
}

}  // namespace
}  // namespace attn
