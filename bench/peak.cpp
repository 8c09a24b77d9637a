#include "peak.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "compute/int8/int8_kernels.h"
#include "compute/kernels/kernels.h"
#include "compute/kernels/tile_kernels.h"
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace attn {
namespace {

constexpr int kChains = 12;  // more than the cycles of a multiply-add, times the units of a core
constexpr long kRounds = 2'000'000;

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void run_avx512() {
  __m512 sum[kChains] = {};
  for (__m512& one : sum)
    asm volatile("" : "+v"(one));  // hides from the compiler that all chains are the same
  const __m512 factor = _mm512_set1_ps(0.5F);
  for (long i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (__m512& one : sum) one = _mm512_fmadd_ps(one, factor, factor);
  }
  for (__m512& one : sum) asm volatile("" : "+v"(one));
}

[[gnu::target("avx2,fma")]] void run_avx2() {
  __m256 sum[kChains] = {};
  for (__m256& one : sum) asm volatile("" : "+x"(one));
  const __m256 factor = _mm256_set1_ps(0.5F);
  for (long i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (__m256& one : sum) one = _mm256_fmadd_ps(one, factor, factor);
  }
  for (__m256& one : sum) asm volatile("" : "+x"(one));
}

// Sums integers like the int8 kernels: four products with one instruction, or pairs with one and
// their sums with two more.
[[gnu::target("avx512f,avx512vnni")]] void run_avx512_vnni() {
  __m512i sum[kChains] = {};
  for (__m512i& one : sum) asm volatile("" : "+v"(one));
  const __m512i factor = _mm512_set1_epi8(1);
  for (long i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (__m512i& one : sum) one = _mm512_dpbusd_epi32(one, factor, factor);
  }
  for (__m512i& one : sum) asm volatile("" : "+v"(one));
}

[[gnu::target("avx2,avxvnni")]] void run_avx_vnni() {
  __m256i sum[kChains] = {};
  for (__m256i& one : sum) asm volatile("" : "+x"(one));
  const __m256i factor = _mm256_set1_epi8(1);
  for (long i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (__m256i& one : sum) one = _mm256_dpbusd_avx_epi32(one, factor, factor);
  }
  for (__m256i& one : sum) asm volatile("" : "+x"(one));
}

[[gnu::target("avx512bw")]] void run_avx512_pairs() {
  __m512i sum[kChains] = {};
  for (__m512i& one : sum) asm volatile("" : "+v"(one));
  __m512i factor = _mm512_set1_epi8(1);
  const __m512i ones = _mm512_set1_epi16(1);
  for (long i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (__m512i& one : sum) {
      asm volatile("" : "+v"(factor));  // otherwise one product would serve all chains
      const __m512i pairs = _mm512_maddubs_epi16(factor, factor);
      one = _mm512_add_epi32(one, _mm512_madd_epi16(pairs, ones));
    }
  }
  for (__m512i& one : sum) asm volatile("" : "+v"(one));
}

[[gnu::target("avx2")]] void run_avx2_pairs() {
  __m256i sum[kChains] = {};
  for (__m256i& one : sum) asm volatile("" : "+x"(one));
  __m256i factor = _mm256_set1_epi8(1);
  const __m256i ones = _mm256_set1_epi16(1);
  for (long i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (__m256i& one : sum) {
      asm volatile("" : "+x"(factor));
      const __m256i pairs = _mm256_maddubs_epi16(factor, factor);
      one = _mm256_add_epi32(one, _mm256_madd_epi16(pairs, ones));
    }
  }
  for (__m256i& one : sum) asm volatile("" : "+x"(one));
}

[[gnu::target("avx512f,avx512bf16")]] void run_avx512_bf16() {
  constexpr int kMore = 2 * kChains;  // the instruction takes longer than a multiply-add
  __m512 sum[kMore] = {};
  for (__m512& one : sum) asm volatile("" : "+v"(one));
  const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi16(0x3F00));  // 0.5
  for (long i = 0; i < kRounds / 2; ++i) {
#pragma GCC unroll 24
    for (__m512& one : sum) one = _mm512_dpbf16_ps(one, factor, factor);
  }
  for (__m512& one : sum) asm volatile("" : "+v"(one));
}
#elif defined(__aarch64__)
void run_neon() {
  float32x4_t sum[kChains] = {};
  for (float32x4_t& one : sum) asm volatile("" : "+w"(one));
  const float32x4_t factor = vdupq_n_f32(0.5F);
  for (long i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (float32x4_t& one : sum) one = vfmaq_f32(factor, one, factor);
  }
  for (float32x4_t& one : sum) asm volatile("" : "+w"(one));
}

void run_dotprod() {
  int32x4_t sum[kChains] = {};
  for (int32x4_t& one : sum) asm volatile("" : "+w"(one));
  const int8x16_t factor = vdupq_n_s8(1);
  for (long i = 0; i < kRounds; ++i) {
#pragma GCC unroll 12
    for (int32x4_t& one : sum) {
      asm(".arch_extension dotprod\n sdot %0.4s, %1.16b, %1.16b" : "+w"(one) : "w"(factor));
    }
  }
  for (int32x4_t& one : sum) asm volatile("" : "+w"(one));
}
#endif

/// Measures a function; `lanes` is the multiply-adds of one instruction, or of one sequence of
/// instructions.
double gflops_of(void (*run)(), int lanes) {
  double least = 1e9;
  for (int i = 0; i < 9; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    least = std::min(least, seconds.count());
  }
  return 2e-9 * static_cast<double>(kRounds) * kChains * lanes / least;
}

}  // namespace

double peak_gflops() {
  [[maybe_unused]] const std::string_view name = kernels().name;
#if defined(__x86_64__)
  if (name == "avx512") return gflops_of(run_avx512, 16);
  if (name == "avx2") return gflops_of(run_avx2, 8);
#elif defined(__aarch64__)
  if (name == "neon") return gflops_of(run_neon, 4);
#endif
  return 0;
}

double peak_int8_gops() {
  [[maybe_unused]] const std::string_view name = int8_kernels().name;
#if defined(__x86_64__)
  if (name == "avx512-vnni") return gflops_of(run_avx512_vnni, 64);
  if (name == "avx-vnni") return gflops_of(run_avx_vnni, 32);
  if (name == "avx512") return gflops_of(run_avx512_pairs, 64);
  if (name == "avx2") return gflops_of(run_avx2_pairs, 32);
#elif defined(__aarch64__)
  if (name == "neon-dotprod") return gflops_of(run_dotprod, 16);
#endif
  return 0;
}

double peak_bfloat16_gflops() {
#if defined(__x86_64__)
  if (tile_kernels() == &avx512_bf16_table) return gflops_of(run_avx512_bf16, 32);
#endif
  return 0;
}

}  // namespace attn
