// Sixteen lanes as four of the compiler's vectors of four floats, which are registers on every
// x86-64 and arm64. Included by the kernels' files for any CPU and for NEON alone, which add fma()
// and the constants that impl.h asks for.
#pragma once

#include "compute/kernels/four_floats.h"
#include "compute/kernels/kernels.h"

namespace attn {
namespace {

using FourBits = std::uint32_t __attribute__((vector_size(16)));
using FourInts = std::int32_t __attribute__((vector_size(16)));

inline Four four(float x) {
  return Four{x, x, x, x};
}
inline FourBits four(std::uint32_t x) {
  return FourBits{x, x, x, x};
}
inline FourBits bits(Four x) {
  return reinterpret_cast<FourBits>(x);
}
inline Four floats(FourBits x) {
  return reinterpret_cast<Four>(x);
}
/// `value` where the comparison held, which is all ones there; else 0.
inline Four where(FourInts held, Four value) {
  return floats(reinterpret_cast<FourBits>(held) & bits(value));
}

struct Lanes {
  Four a;
  Four b;
  Four c;
  Four d;

  static Lanes zero() { return broadcast(0.0F); }
  static Lanes broadcast(float x) { return {four(x), four(x), four(x), four(x)}; }
  /// Sixteen floats, or whatever else load_four() widens to floats.
  template <typename Number>
  static Lanes load(const Number* p) {
    return {load_four(p), load_four(p + 4), load_four(p + 8), load_four(p + 12)};
  }
  static Lanes load_partial(const float* p, Index n, float filler = 0.0F) {
    float v[16];
    for (Index i = 0; i < 16; ++i) v[i] = i < n ? p[i] : filler;
    return load(v);
  }
  void store(float* p) const {
    store_four(a, p);
    store_four(b, p + 4);
    store_four(c, p + 8);
    store_four(d, p + 12);
  }
  void store_partial(float* p, Index n) const {
    float v[16];
    store(v);
    for (Index i = 0; i < n; ++i) p[i] = v[i];
  }
};

/// f of each four of the lanes of x, …
template <typename F, typename... L>
inline Lanes each(F&& f, L... x) {
  return {f(x.a...), f(x.b...), f(x.c...), f(x.d...)};
}

inline Lanes operator+(Lanes x, Lanes y) {
  return {x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d};
}
inline Lanes operator-(Lanes x, Lanes y) {
  return {x.a - y.a, x.b - y.b, x.c - y.c, x.d - y.d};
}
inline Lanes operator*(Lanes x, Lanes y) {
  return {x.a * y.a, x.b * y.b, x.c * y.c, x.d * y.d};
}
inline Lanes operator/(Lanes x, Lanes y) {
  return {x.a / y.a, x.b / y.b, x.c / y.c, x.d / y.d};
}
// Where they cannot compare, the second operand.
inline Lanes max(Lanes x, Lanes y) {
  return each([](Four u, Four v) { return u > v ? u : v; }, x, y);
}
inline Lanes min(Lanes x, Lanes y) {
  return each([](Four u, Four v) { return u < v ? u : v; }, x, y);
}
/// To the nearest, ties to even, of numbers below 2²²: added to 1.5 · 2²³ they have no fraction
/// left.
inline Lanes round(Lanes x) {
  const Lanes large = Lanes::broadcast(12582912.0F);
  return (x + large) - large;
}
/// x · 2ⁿ for whole n by the exponent's bits. NaN is no exponent, and x is NaN beside it.
inline Lanes times_power_of_two(Lanes x, Lanes n) {
  return each(
      [](Four u, Four power) {
        const FourInts whole = __builtin_convertvector(power, FourInts);
        return floats(bits(u) + (reinterpret_cast<FourBits>(whole) << 23));
      },
      x, n);
}
inline Lanes zero_where_less(Lanes x, Lanes bound, Lanes value) {
  return each([](Four u, Four limit, Four v) { return where(~(u < limit), v); }, x, bound, value);
}
inline float max_of_lanes(Lanes x) {
  const auto larger = [](auto u, auto v) { return u > v ? u : v; };
  const Four largest = larger(larger(x.d, x.b), larger(x.c, x.a));
  return larger(larger(largest[3], largest[1]), larger(largest[2], largest[0]));
}
inline float sum_of_lanes(Lanes x) {
  const Four sum = (x.a + x.c) + (x.b + x.d);
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}
inline void store_sums(const Lanes (&x)[4], float* out) {
  for (int i = 0; i < 4; ++i) out[i] = sum_of_lanes(x[i]);
}
inline bool any_above(Lanes x, Lanes y) {
  const FourInts above = (x.a > y.a) | (x.b > y.b) | (x.c > y.c) | (x.d > y.d);
  return (above[0] | above[1] | above[2] | above[3]) != 0;
}
inline Lanes with_sign_of(Lanes x, Lanes sign) {
  return each([](Four u, Four s) { return floats(bits(u) | (bits(s) & four(0x80000000U))); }, x,
              sign);
}

inline Lanes square_root(Lanes x) {
  return each(
      [](Four u) {
        return Four{__builtin_sqrtf(u[0]), __builtin_sqrtf(u[1]), __builtin_sqrtf(u[2]),
                    __builtin_sqrtf(u[3])};
      },
      x);
}
inline Lanes keep_where_positive(Lanes x, Lanes value) {
  return each([](Four u, Four v) { return where(u > four(0.0F), v); }, x, value);
}
/// dropout_hash() of elements `first` to `first` + 3: all ones where one is
/// kept.
inline FourInts kept(std::uint64_t key, std::uint32_t first, std::uint32_t threshold) {
  FourBits h = (first + FourBits{0, 1, 2, 3}) * kDropoutStride + static_cast<std::uint32_t>(key);
  h ^= h >> 16;
  h = (h * kDropoutFirst) ^ static_cast<std::uint32_t>(key >> 32);
  h ^= h >> 15;
  h *= kDropoutSecond;
  h ^= h >> 16;
  return h >= four(threshold);
}
inline Lanes zero_where_dropped(Lanes value, std::uint64_t key, std::uint32_t first,
                                std::uint32_t threshold) {
  return {where(kept(key, first, threshold), value.a),
          where(kept(key, first + 4, threshold), value.b),
          where(kept(key, first + 8, threshold), value.c),
          where(kept(key, first + 12, threshold), value.d)};
}

}  // namespace
}  // namespace attn
