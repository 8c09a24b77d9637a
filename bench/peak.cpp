#include "peak.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "compute/kernels/kernels.h"
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace attn {
namespace {

constexpr int kChains = 12;  // more than a multiply-add takes cycles, times the units of a core
constexpr long kRounds = 2'000'000;

#if defined(__x86_64__)
[[gnu::target("avx512f")]] void run_avx512() {
  __m512 sum[kChains] = {};
  for (__m512& one : sum) asm volatile("" : "+v"(one));  // each is one of its own for the compiler
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
#endif

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

}  // namespace attn
