// int8 kernels with WebAssembly's 16-bit pairwise dot product, in place of the portable kernels
// (lib/compute/int8/portable.cpp). The sums are the same, and so are the bits.
#include <wasm_simd128.h>

#include "compute/int8/int8_kernels.h"

namespace attn {
namespace {

/// Sixteen bytes, four terms for each of four columns, widened to 16 bits: columns 0 and 1, then 2
/// and 3.
struct Bytes {
  v128_t first;
  v128_t last;

  static Bytes load(const std::int8_t* from) {
    const v128_t all = wasm_v128_load(from);
    return {wasm_i16x8_extend_low_i8x16(all), wasm_i16x8_extend_high_i8x16(all)};
  }
};

/// Four numbers of a row in 16 bits, repeated for two columns.
struct Row {
  static constexpr Index kBytes = 2 * kInt8Group;
  v128_t v;

  static Row load(const std::int8_t* x) { return {wasm_v128_load64_splat(x)}; }

  /// Packs in place: the numbers are at the end of `out`, and each is read before it is
  /// overwritten.
  static std::int32_t pack(const std::int8_t* numbers, Index groups, std::int8_t* out) {
    for (Index g = 0; g < groups; ++g) {
      const v128_t four = wasm_v128_load32_zero(numbers + g * kInt8Group);
      wasm_v128_store64_lane(out + g * kBytes, wasm_i16x8_extend_low_i8x16(four), 0);
    }
    return 0;
  }
};

struct Floats {
  v128_t v;

  static Floats load(const float* from) { return {wasm_v128_load(from)}; }
  void store(float* to) const { wasm_v128_store(to, v); }
};

inline Floats operator+(Floats a, Floats b) {
  return {wasm_f32x4_add(a.v, b.v)};
}

/// Two sums for each of four columns, in pairs of columns.
struct PairSums {
  v128_t first;
  v128_t last;
};

struct Ints {
  static constexpr Index kColumns = 4;
  PairSums v;

  static Ints start(std::int32_t, const std::int32_t*) {
    return {{wasm_i32x4_splat(0), wasm_i32x4_splat(0)}};
  }

  void add_products(const Row& x, const Bytes& w) {
    v.first = wasm_i32x4_add(v.first, wasm_i32x4_dot_i16x8(w.first, x.v));
    v.last = wasm_i32x4_add(v.last, wasm_i32x4_dot_i16x8(w.last, x.v));
  }
};

inline Floats scaled(const PairSums& sums, float row_scale, const float* scales) {
  const v128_t even = wasm_i32x4_shuffle(sums.first, sums.last, 0, 2, 4, 6);
  const v128_t odd = wasm_i32x4_shuffle(sums.first, sums.last, 1, 3, 5, 7);
  const v128_t scale = wasm_f32x4_mul(wasm_v128_load(scales), wasm_f32x4_splat(row_scale));
  return {wasm_f32x4_mul(wasm_f32x4_convert_i32x4(wasm_i32x4_add(even, odd)), scale)};
}

// Most CPUs have sixteen registers, of which eight hold sums and four hold weights.
constexpr std::size_t kRegisters = 2;
constexpr std::size_t kInt8Rows = 2;

}  // namespace
}  // namespace attn

#include "compute/int8/rows.h"

constinit const attn::Int8Kernels attn::portable_int8_table = attn::make_int8_table("simd128");
