// Which table the running CPU is given. Compiled for the oldest CPU, as all but the tables' own
// functions is.
#include "compute/kernels.h"

#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "compute/kernels_table.h"

namespace attn {
namespace {

// What the tables' files are compiled for; __builtin_cpu_supports() also asks whether the system
// keeps the wide registers of a process.
bool has_avx2() {
  return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("fma");
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

const Kernels& asked_for(std::string_view name) {
  const Kernels* table = nullptr;
  if (name == "portable") {
    table = portable_kernels();
  } else if (name == "avx2") {
    table = avx2_kernels();
  } else if (name == "avx512") {
    table = avx512_kernels();
  } else {
    throw UsageError("ATTN_DEMO_CPU={}: expected portable, avx2 or avx512", name);
  }
  if (table == nullptr) {
    throw UsageError("ATTN_DEMO_CPU={}: this CPU has no such instructions; it runs {}", name,
                     has_avx2() ? "portable and avx2" : "portable");
  }
  return *table;
}

const Kernels& choose() {
  const char* asked = std::getenv("ATTN_DEMO_CPU");
  if (asked != nullptr && *asked != '\0') return asked_for(asked);
  if (has_avx512()) return avx512_table;
  return has_avx2() ? avx2_table : portable_table;
}

}  // namespace

const Kernels* portable_kernels() {
  return &portable_table;
}

const Kernels* avx2_kernels() {
  return has_avx2() ? &avx2_table : nullptr;
}

const Kernels* avx512_kernels() {
  return has_avx512() ? &avx512_table : nullptr;
}

const Kernels& kernels() {
  static const Kernels& table = choose();
  return table;
}

}  // namespace attn
