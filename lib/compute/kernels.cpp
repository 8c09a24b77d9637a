// Which table the running CPU is given. Compiled for the oldest CPU, as all but the tables' own
// functions is.
#include "compute/kernels.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "compute/int8_kernels.h"
#include "compute/kernels_table.h"
#include "compute/tile_kernels.h"

namespace attn {
namespace {

/// What CPUID says; all zeros where the CPU has no such leaf.
struct Cpuid {
  Cpuid(unsigned leaf, unsigned subleaf) { __get_cpuid_count(leaf, subleaf, &a, &b, &c, &d); }
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
};

// What the tables' files are compiled for; __builtin_cpu_supports() also asks whether the system
// keeps the wide registers of a process.
bool has_avx2() {
  constexpr unsigned kF16c = 1U << 29;  // for which Clang 14 has no name
  return __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("avx2") &&
         __builtin_cpu_supports("fma") && (Cpuid(1, 0).c & kF16c) != 0;
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

bool has_avx512_vnni() {
  return has_avx512() && __builtin_cpu_supports("avx512vnni");
}

bool has_avx_vnni() {
  constexpr unsigned kAvxVnni = 1U << 4;
  return has_avx2() && (Cpuid(7, 1).a & kAvxVnni) != 0;
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

/// AMX with bfloat16, and the system's leave to use its registers (Linux asks each process).
bool has_amx() {
  if (!has_avx512()) return false;
  constexpr unsigned kBfloat16AndTile = 1U << 22 | 1U << 24;
  if ((Cpuid(7, 0).d & kBfloat16AndTile) != kBfloat16AndTile) return false;
  constexpr unsigned kAvx512Bfloat16 = 1U << 5;
  if ((Cpuid(7, 1).a & kAvx512Bfloat16) == 0) return false;
  constexpr long kAskForPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM, of asm/prctl.h
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kAskForPermission, kTileData) == 0;
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

const TileKernels* tile_kernels() {
  static const TileKernels* const table = [] {
    const char* asked = std::getenv("ATTN_DEMO_CPU");
    const bool other = asked != nullptr && *asked != '\0';
    return !other && has_amx() ? &amx_table : nullptr;
  }();
  return table;
}

Int8Tables all_int8_kernels() {
  Int8Tables all{{&portable_int8_table}, 1};
  const auto add = [&](bool there, const Int8Kernels& table) {
    if (there) all.tables[all.count++] = &table;
  };
  add(has_avx2(), avx2_int8_table);
  add(has_avx_vnni(), avx_vnni_int8_table);
  add(has_avx512(), avx512_int8_table);
  add(has_avx512_vnni(), avx512_vnni_int8_table);
  return all;
}

const Int8Kernels& int8_kernels() {
  static const Int8Kernels& table = []() -> const Int8Kernels& {
    const char* asked = std::getenv("ATTN_DEMO_CPU");
    if (asked == nullptr || *asked == '\0') {
      const Int8Tables all = all_int8_kernels();
      return *all.tables[all.count - 1];
    }
    const Kernels& of_floats = kernels();
    if (&of_floats == &avx512_table) return avx512_int8_table;
    return &of_floats == &avx2_table ? avx2_int8_table : portable_int8_table;
  }();
  return table;
}

const Kernels& kernels() {
  static const Kernels& table = choose();
  return table;
}

}  // namespace attn
