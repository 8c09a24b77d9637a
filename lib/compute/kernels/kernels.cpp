// Selects the running CPU's table. Like everything but the tables' own functions, this file is
// compiled for the oldest CPU.
#include "compute/kernels/kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "compute/int8/int8_kernels.h"
#include "compute/kernels/tile_kernels.h"

namespace attn {
namespace {

#if defined(__x86_64__)

/// The result of CPUID; all zeros if the CPU lacks the leaf.
struct Cpuid {
  Cpuid(unsigned leaf, unsigned subleaf) { __get_cpuid_count(leaf, subleaf, &a, &b, &c, &d); }
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
};

// Checks for the features that the tables' files are compiled for; __builtin_cpu_supports() also
// checks that the system saves the wide registers of a process.
bool has_avx2() {
  constexpr unsigned kF16c = 1U << 29;  // Clang 14 has no name for it
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

bool has_avx512_bf16() {
  constexpr unsigned kAvx512Bfloat16 = 1U << 5;
  return has_avx512() && (Cpuid(7, 1).a & kAvx512Bfloat16) != 0;
}

/// True if the CPU has AMX with bfloat16 and the system permits its registers (Linux requires a
/// request per process).
bool has_amx() {
  if (!has_avx512_bf16()) return false;
  constexpr unsigned kBfloat16AndTile = 1U << 22 | 1U << 24;
  if ((Cpuid(7, 0).d & kBfloat16AndTile) != kBfloat16AndTile) return false;
  constexpr long kAskForPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM from asm/prctl.h
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kAskForPermission, kTileData) == 0;
}

#endif

/// Returns the value of ATTN_DEMO_CPU; empty if it is not set.
std::string_view asked() {
  const char* name = std::getenv("ATTN_DEMO_CPU");
  return name == nullptr ? std::string_view() : name;
}

const Kernels& choose() {
  const std::vector<const Kernels*> all = all_kernels();
  const std::string_view name = asked();
  if (name.empty()) return *all.back();
  std::vector<std::string_view> names;
  for (const Kernels* table : all) {
    if (table->name == name) return *table;
    names.emplace_back(table->name);
  }
  for (const std::string_view known : {"avx2", "avx512", "neon"}) {
    if (name == known) {
      throw UsageError("ATTN_DEMO_CPU={}: this CPU has no such instructions; it runs {}", name,
                       fmt::join(names, " and "));
    }
  }
  throw UsageError("ATTN_DEMO_CPU={}: expected portable, avx2, avx512 or neon", name);
}

}  // namespace

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> all{&portable_table};
#if defined(__x86_64__)
  if (has_avx2()) all.push_back(&avx2_table);
  if (has_avx512()) all.push_back(&avx512_table);
#elif defined(__aarch64__)
  all.push_back(&neon_table);
#endif
  return all;
}

const Kernels& kernels() {
  static const Kernels& table = choose();
  return table;
}

std::vector<const Int8Kernels*> all_int8_kernels() {
  std::vector<const Int8Kernels*> all{&portable_int8_table};
#if defined(__x86_64__)
  if (has_avx2()) all.push_back(&avx2_int8_table);
  if (has_avx_vnni()) all.push_back(&avx_vnni_int8_table);
  if (has_avx512()) all.push_back(&avx512_int8_table);
  if (has_avx512_vnni()) all.push_back(&avx512_vnni_int8_table);
#elif defined(__aarch64__)
  all.push_back(&neon_int8_table);
  if ((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0) all.push_back(&dotprod_int8_table);
#endif
  return all;
}

const Int8Kernels& int8_kernels() {
  static const Int8Kernels& table = []() -> const Int8Kernels& {
    const std::vector<const Int8Kernels*> all = all_int8_kernels();
    if (asked().empty()) return *all.back();
    const std::string_view name = kernels().name;
    return **std::find_if(all.begin(), all.end(),
                          [&](const Int8Kernels* each) { return each->name == name; });
  }();
  return table;
}

std::vector<const TileKernels*> all_tile_kernels() {
  std::vector<const TileKernels*> all;
#if defined(__x86_64__)
  if (has_avx512_bf16()) all.push_back(&avx512_bf16_table);
  if (has_amx()) all.push_back(&amx_table);
#endif
  return all;
}

const TileKernels* tile_kernels() {
  static const TileKernels* const table = []() -> const TileKernels* {
    const std::vector<const TileKernels*> all = all_tile_kernels();
    return asked().empty() && !all.empty() ? all.back() : nullptr;
  }();
  return table;
}

}  // namespace attn
