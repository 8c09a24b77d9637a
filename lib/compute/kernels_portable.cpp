// The kernels in plain C++, for any CPU: sixteen lanes are an array. fma() here is two roundings (a
// software fma would be a hundred times slower), so this table's last bits differ from the others'.
#include <cmath>
#include <cstring>

#include "compute/dropout_hash.h"
#include "compute/kernels_table.h"

namespace attn {
namespace {

struct Lanes {
  float v[16];

  static Lanes zero() { return {}; }
  static Lanes broadcast(float x) {
    Lanes r;
    for (float& e : r.v) e = x;
    return r;
  }
  static Lanes load(const float* p) {
    Lanes r;
    std::memcpy(r.v, p, sizeof r.v);
    return r;
  }
  static Lanes load_partial(const float* p, Index n) {
    Lanes r = zero();
    for (Index i = 0; i < n; ++i) r.v[i] = p[i];
    return r;
  }
  void store(float* p) const { std::memcpy(p, v, sizeof v); }
  void store_partial(float* p, Index n) const {
    for (Index i = 0; i < n; ++i) p[i] = v[i];
  }
};

template <typename F>
inline Lanes map(F&& f) {
  Lanes r;
  for (int i = 0; i < 16; ++i) r.v[i] = f(i);
  return r;
}

inline Lanes operator+(Lanes a, Lanes b) {
  return map([&](int i) { return a.v[i] + b.v[i]; });
}
inline Lanes operator-(Lanes a, Lanes b) {
  return map([&](int i) { return a.v[i] - b.v[i]; });
}
inline Lanes operator*(Lanes a, Lanes b) {
  return map([&](int i) { return a.v[i] * b.v[i]; });
}
inline Lanes operator/(Lanes a, Lanes b) {
  return map([&](int i) { return a.v[i] / b.v[i]; });
}
inline Lanes fma(Lanes a, Lanes b, Lanes c) {
  return map([&](int i) { return a.v[i] * b.v[i] + c.v[i]; });
}
inline Lanes max(Lanes a, Lanes b) {
  return map([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
inline Lanes min(Lanes a, Lanes b) {
  return map([&](int i) { return a.v[i] < b.v[i] ? a.v[i] : b.v[i]; });
}
inline Lanes round(Lanes a) {
  return map([&](int i) { return std::nearbyint(a.v[i]); });
}
inline Lanes times_power_of_two(Lanes a, Lanes n) {
  // NaN is no exponent, and `a` is NaN beside it.
  return map([&](int i) {
    return std::isnan(n.v[i]) ? a.v[i] : std::ldexp(a.v[i], static_cast<int>(n.v[i]));
  });
}
inline Lanes zero_where_less(Lanes x, Lanes bound, Lanes value) {
  return map([&](int i) { return x.v[i] < bound.v[i] ? 0.0F : value.v[i]; });
}
inline float sum_of_lanes(Lanes a) {
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) a.v[i] += a.v[i + half];
  }
  return a.v[0];
}
inline bool any_above(Lanes a, Lanes b) {
  bool any = false;
  for (int i = 0; i < 16; ++i) any = any || a.v[i] > b.v[i];
  return any;
}
inline Lanes with_sign_of(Lanes a, Lanes sign) {
  return map([&](int i) { return std::copysign(a.v[i], sign.v[i]); });
}

inline Lanes square_root(Lanes a) {
  return map([&](int i) { return std::sqrt(a.v[i]); });
}
inline Lanes keep_where_positive(Lanes x, Lanes value) {
  return map([&](int i) { return x.v[i] > 0.0F ? value.v[i] : 0.0F; });
}
inline Lanes zero_where_dropped(Lanes value, std::uint64_t key, std::uint32_t first,
                                std::uint32_t threshold) {
  return map([&](int i) {
    const std::uint32_t hash = dropout_hash(key, first + static_cast<std::uint32_t>(i));
    return hash >= threshold ? value.v[i] : 0.0F;
  });
}

constexpr Index kPanelLanes = 1;
constexpr Index kRowBlock = 2;

}  // namespace
}  // namespace attn

#include "compute/kernels_impl.h"

constinit const attn::Kernels attn::portable_table = make_table("portable");
