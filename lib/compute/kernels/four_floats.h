// Four floats as one vector of the compiler's. Included by the kernels' headers alone: everything
// is in an unnamed namespace, compiled for the instructions of the file that includes it.
#pragma once

namespace attn {
namespace {

using Four = float __attribute__((vector_size(16)));

/// Four floats wherever they lie.
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
