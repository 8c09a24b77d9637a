// The kernels, written once over `Lanes`, sixteen floats, and included by one source file per
// instruction set. Include it only there: everything is in an unnamed namespace so that code for
// AVX-512 can never be linked into another table. For the same reason nothing here calls inline
// functions of the standard library (hence __builtin_sqrtf and the like).
//
// The including file defines Lanes (load, load_partial, store, store_partial, broadcast, fma,
// arithmetic, max, min, sum_of_lanes, max_of_lanes and so on) and these constants: kPanelLanes,
// kRowBlock, kWidens (true if it also loads sixteen binary16 numbers), kQueryBlock (queries that
// attention processes together) and kBlockLanes (keys, or groups of a value's lanes, for each such
// block). sum_of_lanes adds lanes i and i + 8, then i + 4, i + 2, i + 1: the same tree in every
// table. store_sums does this for four vectors.
#pragma once

#include "compute/kernels/kernels.h"

namespace attn {
namespace {

constexpr Index kLanes = 16;
constexpr Index kPanelWidth = kPanelLanes * kLanes;

/// Loads up to sixteen floats. Fills a partial group with zeros and reads nothing beyond it.
inline Lanes load_n(const float* x, Index n) {
  return n == kLanes ? Lanes::load(x) : Lanes::load_partial(x, n);
}

inline void store_n(const Lanes& value, float* x, Index n) {
  if (n == kLanes) {
    value.store(x);
  } else {
    value.store_partial(x, n);
  }
}

}  // namespace
}  // namespace attn

#include "compute/kernels/products.h"

namespace attn {
namespace {

// ---------------------------------------------------------------------------------------------
// Sums and maxima over a row: lanes first, then one fixed tree.

/// Applies `step` to whole groups of lanes and once to a partial one, padded with `filler`.
template <typename Step>
inline void for_each_lanes(Index n, Step&& step) {
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) step(i, kLanes);
  if (i < n) step(i, n - i);
}

/// Loads with −∞ as filler, as maxima and exponentials need; partial loads fill with 0.
inline Lanes load_n_or_minus_infinity(const float* x, Index n) {
  return n == kLanes ? Lanes::load(x) : Lanes::load_partial(x, n, -__builtin_inff());
}

// ---------------------------------------------------------------------------------------------
// Exponentials. e^x = 2^n · e^r with n = round(x / ln 2) and |r| ≤ ln 2 / 2; e^r by its Taylor
// polynomial of degree 7, whose remainder at 0.347 is below 6e-9 of the value.

inline Lanes exponential(Lanes x) {
  const Lanes low = Lanes::broadcast(-87.0F);
  // NaN stays NaN because min and max return their second operand when operands are unordered.
  const Lanes clamped = max(low, min(Lanes::broadcast(88.0F), x));
  const Lanes n = round(clamped * Lanes::broadcast(1.44269504F));
  // ln 2 in two parts, the first with so few bits that n · part is exact (Cody and Waite).
  Lanes r = fma(n, Lanes::broadcast(-0.693359375F), clamped);
  r = fma(n, Lanes::broadcast(2.12194440e-4F), r);
  Lanes p = Lanes::broadcast(1.0F / 5040.0F);
  p = fma(p, r, Lanes::broadcast(1.0F / 720.0F));
  p = fma(p, r, Lanes::broadcast(1.0F / 120.0F));
  p = fma(p, r, Lanes::broadcast(1.0F / 24.0F));
  p = fma(p, r, Lanes::broadcast(1.0F / 6.0F));
  p = fma(p, r, Lanes::broadcast(0.5F));
  p = fma(p, r, Lanes::broadcast(1.0F));
  p = fma(p, r, Lanes::broadcast(1.0F));
  // Below −87 the value is under 1.7e-38; masked cells of attention must be exactly 0.
  return zero_where_less(x, low, times_power_of_two(p, n));
}

float row_max(const float* row, Index n) {
  const Lanes least = Lanes::broadcast(-__builtin_inff());
  // Four accumulators, because each maximum waits for the previous one.
  Lanes a = least, b = least, c = least, d = least;
  const Index end = n - n % (4 * kLanes);
  for (Index i = 0; i < end; i += 4 * kLanes) {
    a = max(a, Lanes::load(row + i));
    b = max(b, Lanes::load(row + i + kLanes));
    c = max(c, Lanes::load(row + i + 2 * kLanes));
    d = max(d, Lanes::load(row + i + 3 * kLanes));
  }
  Lanes maximum = max(max(a, b), max(c, d));
  for_each_lanes(n - end, [&](Index i, Index count) {
    maximum = max(maximum, load_n_or_minus_infinity(row + end + i, count));
  });
  return max_of_lanes(maximum);
}

/// An unfinished softmax of a row: exp(row − maximum) and their sum.
struct Exponentials {
  float maximum;
  float total;
};

[[gnu::always_inline]] inline Exponentials exponentials(const float* row, Index n, float* out) {
  const float maximum = row_max(row, n);
  const Lanes shift = Lanes::broadcast(maximum);
  Lanes sum = Lanes::zero();
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes e = exponential(load_n_or_minus_infinity(row + i, count) - shift);
    sum = sum + e;
    store_n(e, out + i, count);
  });
  return {maximum, sum_of_lanes(sum)};
}

void softmax(float* row, Index n) {
  const Exponentials found = exponentials(row, n, row);
  if (found.maximum == -__builtin_inff()) {
    for (Index i = 0; i < n; ++i) row[i] = 0.0F;
    return;
  }
  const Lanes total = Lanes::broadcast(found.total);
  for_each_lanes(
      n, [&](Index i, Index count) { store_n(load_n(row + i, count) / total, row + i, count); });
}

/// Prefetches the data after the row while computing exponentials; for logits, this is the next
/// row.
bool log_sum_exp(const float* row, Index n, float* maximum, float* log_sum) {
  *maximum = row_max(row, n);
  const Lanes shift = Lanes::broadcast(*maximum);
  Lanes sum = Lanes::zero();
  Lanes zeros = Lanes::zero();  // 0 · x: NaN if x is NaN or infinite
  for_each_lanes(n, [&](Index i, Index count) {
    __builtin_prefetch(row + n + i, 0, 2);
    zeros = fma(load_n(row + i, count), Lanes::zero(), zeros);
    sum = sum + exponential(load_n_or_minus_infinity(row + i, count) - shift);
  });
  *log_sum = __builtin_logf(sum_of_lanes(sum));
  return sum_of_lanes(zeros) == 0.0F;
}

// ---------------------------------------------------------------------------------------------
// Layer norm and element-wise functions.

/// The mean of a row and 1 / √(variance + ε).
struct RowMoments {
  Lanes mean;
  Lanes scale;
};

RowMoments row_moments(const float* x, float epsilon, Index n) {
  Lanes sum = Lanes::zero();
  for_each_lanes(n, [&](Index i, Index count) { sum = sum + load_n(x + i, count); });
  const float mean = sum_of_lanes(sum) / static_cast<float>(n);
  const Lanes centre = Lanes::broadcast(mean);
  Lanes squares = Lanes::zero();
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Lanes d = Lanes::load(x + i) - centre;
    squares = fma(d, d, squares);
  }
  float rest = 0.0F;  // scalar, since a partial group would add (0 − mean)² for its filler
  for (; i < n; ++i) rest += (x[i] - mean) * (x[i] - mean);
  const float variance = (sum_of_lanes(squares) + rest) / static_cast<float>(n);
  return {centre, Lanes::broadcast(1.0F / __builtin_sqrtf(variance + epsilon))};
}

void layer_norm(const NormRow& norm, const float* x, float* out) {
  const float* weight = norm.weight;
  const float* bias = norm.bias;
  const RowMoments moments = row_moments(x, norm.epsilon, norm.n);
  for_each_lanes(norm.n, [&](Index j, Index count) {
    const Lanes normal = (load_n(x + j, count) - moments.mean) * moments.scale;
    store_n(fma(normal, load_n(weight + j, count), load_n(bias + j, count)), out + j, count);
  });
}

/// Returns 1 / √(mean of squares + ε).
Lanes rms_scale(const NormRow& norm, const float* x) {
  Lanes squares = Lanes::zero();
  for_each_lanes(norm.n, [&](Index i, Index count) {
    const Lanes v = load_n(x + i, count);
    squares = fma(v, v, squares);
  });
  const float mean = sum_of_lanes(squares) / static_cast<float>(norm.n);
  return Lanes::broadcast(1.0F / __builtin_sqrtf(mean + norm.epsilon));
}

void rms_norm(const NormRow& norm, const float* x, float* out) {
  const float* weight = norm.weight;
  const Lanes scale = rms_scale(norm, x);
  for_each_lanes(norm.n, [&](Index i, Index count) {
    store_n(load_n(weight + i, count) * (load_n(x + i, count) * scale), out + i, count);
  });
}

void multiply(const float* x, float* y, Index n) {
  for_each_lanes(n, [&](Index i, Index count) {
    store_n(load_n(x + i, count) * load_n(y + i, count), y + i, count);
  });
}

void add(const float* x, float* y, Index n) {
  for_each_lanes(n, [&](Index i, Index count) {
    store_n(load_n(x + i, count) + load_n(y + i, count), y + i, count);
  });
}

void relu(float* x, Index n) {
  for_each_lanes(n, [&](Index i, Index count) {
    store_n(max(Lanes::zero(), load_n(x + i, count)), x + i, count);  // NaN stays NaN
  });
}

inline Lanes sigmoid(Lanes x) {
  const Lanes one = Lanes::broadcast(1.0F);
  return one / (one + exponential(Lanes::zero() - x));
}

void swish(float* x, Index n) {
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes v = load_n(x + i, count);
    store_n(v * sigmoid(v), x + i, count);
  });
}

constexpr float kTwiceRootTwoOverPi = 1.5957691F;  // for gelu_new
constexpr float kCubicPart = 0.044715F;

void gelu_new(float* x, Index n) {
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes v = load_n(x + i, count);
    const Lanes cubic = fma(Lanes::broadcast(kCubicPart) * v, v, Lanes::broadcast(1.0F));
    store_n(v * sigmoid(Lanes::broadcast(kTwiceRootTwoOverPi) * v * cubic), x + i, count);
  });
}

/// Computes erf(x) by Abramowitz and Stegun 7.1.26, with an absolute error of at most 1.5e-7.
inline Lanes error_function(Lanes x) {
  const Lanes one = Lanes::broadcast(1.0F);
  const Lanes a = max(x, Lanes::zero() - x);
  const Lanes t = one / fma(Lanes::broadcast(0.3275911F), a, one);
  Lanes p = Lanes::broadcast(1.061405429F);
  p = fma(p, t, Lanes::broadcast(-1.453152027F));
  p = fma(p, t, Lanes::broadcast(1.421413741F));
  p = fma(p, t, Lanes::broadcast(-0.284496736F));
  p = fma(p, t, Lanes::broadcast(0.254829592F));
  const Lanes magnitude = one - p * t * exponential(Lanes::zero() - a * a);
  return with_sign_of(magnitude, x);
}

void gelu(float* x, Index n) {
  const Lanes half = Lanes::broadcast(0.5F);
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes v = load_n(x + i, count);
    const Lanes erf = error_function(v * Lanes::broadcast(0.70710678F));
    store_n(half * v * (Lanes::broadcast(1.0F) + erf), x + i, count);
  });
}

Index find_above(const float* row, Index begin, Index n, float bound) {
  const Lanes limit = Lanes::broadcast(bound);
  Index i = begin;
  for (; i + kLanes <= n && !any_above(Lanes::load(row + i), limit); i += kLanes) {
  }
  for (; i < n; ++i) {
    if (row[i] > bound) return i;
  }
  return n;
}

Index arg_max(const float* row, Index n) {
  const float maximum = row_max(row, n);
  if (!(maximum > -__builtin_inff())) return 0;
  return find_above(row, 0, n, __builtin_nextafterf(maximum, -__builtin_inff()));
}

}  // namespace
}  // namespace attn

#include "compute/kernels/attention.h"
#include "compute/kernels/training.h"

namespace attn {
namespace {

/// Returns the table of the including file.
constexpr Kernels make_table(const char* name) {
  return {.name = name,
          .panel_width = kPanelWidth,
          .row_block = kRowBlock,
          .widens = kWidens,
          .score_chain = kScoreChain,
          .panel_matmul = panel_matmul,
          .dot_products = dot_products,
          .weighted_sums = weighted_sums,
          .softmax = softmax,
          .pack_columns = pack_columns,
          .pack_rows = pack_rows,
          .softmax_block = softmax_block,
          .backward_block = backward_block,
          .log_sum_exp = log_sum_exp,
          .layer_norm = layer_norm,
          .rms_norm = rms_norm,
          .add = add,
          .multiply = multiply,
          .relu = relu,
          .gelu = gelu,
          .swish = swish,
          .gelu_new = gelu_new,
          .arg_max = arg_max,
          .find_above = find_above,
          .pack_strips = pack_strips,
          .dropout = dropout,
          .softmax_backward = softmax_backward,
          .layer_norm_backward = layer_norm_backward,
          .rms_norm_backward = rms_norm_backward,
          .relu_backward = relu_backward,
          .gelu_backward = gelu_backward,
          .swish_backward = swish_backward,
          .gelu_new_backward = gelu_new_backward,
          .cross_entropy = cross_entropy,
          .divergence = divergence,
          .adam = adam,
          .add_column_sums = add_column_sums,
          .blend = blend,
          .sum_of_squares = sum_of_squares};
}

}  // namespace
}  // namespace attn
