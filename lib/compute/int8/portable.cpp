// int8 kernels for any CPU, with the compiler's 16-byte vectors.
#include "compute/int8/int8_kernels.h"

namespace attn {
namespace {

using Sums4 = std::int32_t __attribute__((vector_size(16)));
using Shorts8 = std::int16_t __attribute__((vector_size(16)));

template <typename Vector>
inline Vector load_16_bytes(const void* from) {
  Vector value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

/// Sixteen bytes, split into even and odd ones and sign-extended.
struct EvenAndOdd {
  Shorts8 even;
  Shorts8 odd;

  static EvenAndOdd of(Shorts8 bytes) { return {(bytes << 8) >> 8, bytes >> 8}; }
};

struct Row {
  static constexpr Index kBytes = kInt8Group;
  EvenAndOdd numbers;

  static Row load(const std::int8_t* x) {
    std::int32_t four = 0;
    __builtin_memcpy(&four, x, sizeof four);
    const Sums4 all = {four, four, four, four};
    return {EvenAndOdd::of(load_16_bytes<Shorts8>(&all))};
  }

  static std::int32_t pack(const std::int8_t*, Index, std::int8_t*) {
    return 0;
  }  ///< already in place
};

struct Bytes {
  EvenAndOdd numbers;

  static Bytes load(const std::int8_t* from) {
    return {EvenAndOdd::of(load_16_bytes<Shorts8>(from))};
  }
};

struct Ints {
  static constexpr Index kColumns = 4;
  Sums4 v;

  static Ints start(std::int32_t, const std::int32_t*) { return {Sums4{0, 0, 0, 0}}; }

  /// Adds two int8 products in 16 bits, where 2 · 127 · 127 = 32258 fits.
  void add_products(const Row& x, const Bytes& w) {
    const Shorts8 pairs = x.numbers.even * w.numbers.even + x.numbers.odd * w.numbers.odd;
    const auto both = load_16_bytes<Sums4>(&pairs);
    v += ((both << 16) >> 16) + (both >> 16);
  }
};

using Floats4 = float __attribute__((vector_size(16)));

struct Floats {
  Floats4 v;

  static Floats load(const float* from) { return {load_16_bytes<Floats4>(from)}; }
  void store(float* to) const { __builtin_memcpy(to, &v, sizeof v); }
};

inline Floats operator+(Floats a, Floats b) {
  return {a.v + b.v};
}

inline Floats scaled(Sums4 sums, float row_scale, const float* scales) {
  const Floats4 scale = load_16_bytes<Floats4>(scales) * row_scale;
  return {__builtin_convertvector(sums, Floats4) * scale};
}

constexpr std::size_t kRegisters = 4;
constexpr std::size_t kInt8Rows = 2;

}  // namespace
}  // namespace attn

#include "compute/int8/rows.h"

constinit const attn::Int8Kernels attn::portable_int8_table = attn::make_int8_table("portable");
