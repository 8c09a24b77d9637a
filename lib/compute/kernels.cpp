#include "compute/kernels.h"

#include <cstdlib>
#include <string_view>

namespace attn {
namespace {

const Kernels* choose() {
  const char* asked = std::getenv("ATTN_DEMO_CPU");
  const std::string_view limit = asked != nullptr ? asked : "avx512";
  if (limit == "portable") return portable_kernels();
  if (limit != "avx2" && avx512_kernels() != nullptr) return avx512_kernels();
  if (avx2_kernels() != nullptr) return avx2_kernels();
  return portable_kernels();
}

}  // namespace

const Kernels& kernels() {
  static const Kernels* const table = choose();
  return *table;
}

}  // namespace attn
