// The kernels of backward passes and the optimizer, over the same Lanes and under the same rules as
// impl.h, which includes this file. Partial groups are always padded with 0 here, so sums over a
// row need no special end.
#pragma once

#include "compute/kernels/kernels.h"

namespace attn {
namespace {

/// Packs `Count` whole strips side by side. Only a few at a time: strips are a multiple of the
/// cache's own stride apart and would evict each other.
template <Index Count>
inline void pack_whole_strips(const float* x, Index x_stride, Index k, float* strips) {
  const Index strip_size = k * kRowBlock;
  for (Index row = 0; row < k; ++row) {
    const float* from = x + row * x_stride;
    float* to = strips + row * kRowBlock;
#pragma GCC unroll 16
    for (Index s = 0; s < Count; ++s) {
      __builtin_memcpy(to + s * strip_size, from + s * kRowBlock, kRowBlock * sizeof(float));
    }
  }
}

void pack_strips(const float* x, Index x_stride, Index k, Index columns, float* strips) {
  constexpr Index kGroup = 16;
  Index column = 0;
  for (; column + kGroup * kRowBlock <= columns; column += kGroup * kRowBlock) {
    pack_whole_strips<kGroup>(x + column, x_stride, k, strips + column * k);
  }
  for (; column + kRowBlock <= columns; column += kRowBlock) {
    pack_whole_strips<1>(x + column, x_stride, k, strips + column * k);
  }
  if (column == columns) return;
  for (Index row = 0; row < k; ++row) {
    for (Index c = 0; c < kRowBlock; ++c) {
      strips[column * k + row * kRowBlock + c] =
          column + c < columns ? x[row * x_stride + column + c] : 0.0F;
    }
  }
}

void dropout(const DropoutKey& key, std::uint32_t first, float* x, Index n) {
  const Lanes scale = Lanes::broadcast(key.scale);
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes kept = zero_where_dropped(load_n(x + i, count), key.key,
                                          first + static_cast<std::uint32_t>(i), key.threshold);
    store_n(kept * scale, x + i, count);
  });
}

void softmax_backward(const float* weights, float scale, float* dweights, Index n) {
  Lanes sum = Lanes::zero();
  for_each_lanes(n, [&](Index i, Index count) {
    sum = fma(load_n(weights + i, count), load_n(dweights + i, count), sum);
  });
  const Lanes mean = Lanes::broadcast(sum_of_lanes(sum));
  const Lanes factor = Lanes::broadcast(scale);
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes centred = load_n(dweights + i, count) - mean;
    store_n(load_n(weights + i, count) * centred * factor, dweights + i, count);
  });
}

/// Computes dx = (g − mean(g) − x̂ · mean(g ⊙ x̂)) / σ, with the normalized row x̂ and g = dy ⊙
/// weight.
void layer_norm_backward(const NormRow& norm, const float* x, const float* dy, float* dx,
                         const NormGradients& gradients) {
  const float* weight = norm.weight;
  const Index n = norm.n;
  float* dweight = gradients.weight;
  float* dbias = gradients.bias;
  const RowMoments moments = row_moments(x, norm.epsilon, n);
  const auto normal = [&](Index i, Index count) {
    return (load_n(x + i, count) - moments.mean) * moments.scale;
  };
  Lanes sum = Lanes::zero();
  Lanes projection = Lanes::zero();
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes d = load_n(dy + i, count);
    const Lanes x_hat = normal(i, count);
    const Lanes g = d * load_n(weight + i, count);
    sum = sum + g;
    projection = fma(g, x_hat, projection);
    store_n(fma(d, x_hat, load_n(dweight + i, count)), dweight + i, count);
    store_n(d + load_n(dbias + i, count), dbias + i, count);
  });
  const Lanes mean = Lanes::broadcast(sum_of_lanes(sum) / static_cast<float>(n));
  const Lanes share = Lanes::broadcast(sum_of_lanes(projection) / static_cast<float>(n));
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes g = load_n(dy + i, count) * load_n(weight + i, count);
    store_n((g - mean - normal(i, count) * share) * moments.scale, dx + i, count);
  });
}

/// Computes dx = (g − x̂ · mean(g ⊙ x̂)) / rms, with x̂ = x / rms and g = dy ⊙ weight.
void rms_norm_backward(const NormRow& norm, const float* x, const float* dy, float* dx,
                       float* dweight) {
  const float* weight = norm.weight;
  const Index n = norm.n;
  const Lanes scale = rms_scale(norm, x);
  Lanes projection = Lanes::zero();
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes d = load_n(dy + i, count);
    const Lanes x_hat = load_n(x + i, count) * scale;
    projection = fma(d * load_n(weight + i, count), x_hat, projection);
    store_n(fma(d, x_hat, load_n(dweight + i, count)), dweight + i, count);
  });
  const Lanes share = Lanes::broadcast(sum_of_lanes(projection) / static_cast<float>(n));
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes g = load_n(dy + i, count) * load_n(weight + i, count);
    store_n((g - load_n(x + i, count) * scale * share) * scale, dx + i, count);
  });
}

void relu_backward(const float* y, float* dy, Index n) {
  for_each_lanes(n, [&](Index i, Index count) {
    store_n(keep_where_positive(load_n(y + i, count), load_n(dy + i, count)), dy + i, count);
  });
}

/// Uses d/dx x · Φ(x) = Φ(x) + x · φ(x), with φ the normal density.
void gelu_backward(const float* x, float* dy, Index n) {
  const Lanes half = Lanes::broadcast(0.5F);
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes v = load_n(x + i, count);
    const Lanes erf = error_function(v * Lanes::broadcast(0.70710678F));
    const Lanes density = Lanes::broadcast(0.39894228F) * exponential(Lanes::zero() - half * v * v);
    const Lanes slope = fma(v, density, half * (Lanes::broadcast(1.0F) + erf));
    store_n(slope * load_n(dy + i, count), dy + i, count);
  });
}

/// Uses d/dx x · σ(x) = σ(x) · (1 + x · (1 − σ(x))).
void swish_backward(const float* x, float* dy, Index n) {
  const Lanes one = Lanes::broadcast(1.0F);
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes v = load_n(x + i, count);
    const Lanes s = sigmoid(v);
    store_n(s * fma(v, one - s, one) * load_n(dy + i, count), dy + i, count);
  });
}

void gelu_new_backward(const float* x, float* dy, Index n) {
  const Lanes one = Lanes::broadcast(1.0F);
  const Lanes factor = Lanes::broadcast(kTwiceRootTwoOverPi);
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes v = load_n(x + i, count);
    const Lanes square = Lanes::broadcast(kCubicPart) * v * v;
    const Lanes s = sigmoid(factor * v * (square + one));
    const Lanes inner = factor * fma(Lanes::broadcast(3.0F), square, one);  // derivative of 2u
    store_n(s * fma(v * inner, one - s, one) * load_n(dy + i, count), dy + i, count);
  });
}

TokenLoss cross_entropy(float* row, Index n, Index target, float smoothing, float scale) {
  const float at_target = row[target];
  const float maximum = row_max(row, n);
  const Lanes shift = Lanes::broadcast(maximum);
  Lanes logits = Lanes::zero();
  Lanes sum = Lanes::zero();
  for_each_lanes(n, [&](Index i, Index count) {
    // A partial group's filler must not count: −∞ gives e^x = 0, and 0 adds nothing to the sum of
    // logits.
    logits = logits + load_n(row + i, count);
    const Lanes e = exponential(load_n_or_minus_infinity(row + i, count) - shift);
    sum = sum + e;
    store_n(e, row + i, count);
  });
  const float total = sum_of_lanes(sum);
  // Subtract the maximum first, since it is close to the other terms; next to large logits,
  // ln(total) would be lost.
  const float log_total = __builtin_logf(total);
  const auto classes = static_cast<float>(n);
  const float nll = log_total + (maximum - at_target);
  const float uniform = log_total + (maximum - sum_of_lanes(logits) / classes);
  const Lanes factor = Lanes::broadcast(scale / total);
  const Lanes offset = Lanes::broadcast(-smoothing / classes * scale);
  for_each_lanes(n, [&](Index i, Index count) {
    store_n(fma(load_n(row + i, count), factor, offset), row + i, count);
  });
  row[target] -= (1.0F - smoothing) * scale;
  return {(1.0F - smoothing) * nll + smoothing * uniform, nll};
}

/// With d = ln p − ln q, KL(P‖Q) = Σ p d and KL(Q‖P) = −Σ q d. Their derivatives are p (d −
/// KL(P‖Q)) and p − q at x, and q − p and −q (d + KL(Q‖P)) at y.
float divergence(const LogitsRow& x, const LogitsRow& y, Index n, float scale) {
  const float* logits_x = x.logits;
  const float* logits_y = y.logits;
  float* dx = x.gradient;
  float* dy = y.gradient;
  const Exponentials of_x = exponentials(logits_x, n, dx);
  const Exponentials of_y = exponentials(logits_y, n, dy);
  const Lanes p_factor = Lanes::broadcast(1.0F / of_x.total);
  const Lanes q_factor = Lanes::broadcast(1.0F / of_y.total);
  const Lanes x_shift = Lanes::broadcast(of_x.maximum);
  const Lanes y_shift = Lanes::broadcast(of_y.maximum);
  const Lanes logs = Lanes::broadcast(__builtin_logf(of_x.total) - __builtin_logf(of_y.total));
  const auto difference = [&](Index i, Index count) {
    return (load_n(logits_x + i, count) - x_shift) - (load_n(logits_y + i, count) - y_shift) - logs;
  };
  Lanes p_sum = Lanes::zero();
  Lanes q_sum = Lanes::zero();
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes d = difference(i, count);
    p_sum = fma(load_n(dx + i, count) * p_factor, d, p_sum);
    q_sum = fma(load_n(dy + i, count) * q_factor, d, q_sum);
  });
  const float from_p = sum_of_lanes(p_sum);
  const float from_q = -sum_of_lanes(q_sum);
  const Lanes p_mean = Lanes::broadcast(from_p);
  const Lanes q_mean = Lanes::broadcast(from_q);
  const Lanes half = Lanes::broadcast(0.5F * scale);
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes d = difference(i, count);
    const Lanes p = load_n(dx + i, count) * p_factor;
    const Lanes q = load_n(dy + i, count) * q_factor;
    const Lanes apart = p - q;
    store_n(fma(p, d - p_mean, apart) * half, dx + i, count);
    store_n((Lanes::zero() - fma(q, d + q_mean, apart)) * half, dy + i, count);
  });
  return 0.5F * (from_p + from_q);
}

bool adam(const AdamStep& step, const AdamBlock& block) {
  float* p = block.parameters;
  float* m = block.first_moment;
  float* v = block.second_moment;
  float* g = block.gradient;
  const Lanes beta1 = Lanes::broadcast(step.beta1);
  const Lanes beta2 = Lanes::broadcast(step.beta2);
  const Lanes rest1 = Lanes::broadcast(1.0F - step.beta1);
  const Lanes rest2 = Lanes::broadcast(1.0F - step.beta2);
  const Lanes epsilon = Lanes::broadcast(step.epsilon);
  const Lanes size = Lanes::broadcast(-step.step_size);
  const Lanes unbiased = Lanes::broadcast(step.second_moment_unbiased);
  const Lanes clip = Lanes::broadcast(step.gradient_scale);
  Lanes zeros = Lanes::zero();  // 0 · p: NaN if p is NaN or infinite
  for_each_lanes(block.n, [&](Index i, Index count) {
    const Lanes gradient = load_n(g + i, count) * clip;
    const Lanes first = fma(load_n(m + i, count), beta1, gradient * rest1);
    const Lanes second = fma(load_n(v + i, count), beta2, gradient * gradient * rest2);
    const Lanes direction = first / fma(square_root(second), unbiased, epsilon);
    const Lanes moved = fma(direction, size, load_n(p + i, count));
    // A partial group's filler is 0 / epsilon.
    zeros = fma(moved, Lanes::zero(), zeros);
    store_n(moved, p + i, count);
    store_n(first, m + i, count);
    store_n(second, v + i, count);
    store_n(Lanes::zero(), g + i, count);
  });
  return sum_of_lanes(zeros) == 0.0F;
}

/// Adds rows to sums; `Groups` groups of lanes of the sums stay in registers.
template <std::size_t Groups>
inline void column_sums_of(const float* x, Index stride, Index rows, float* sums) {
  Lanes sum[Groups];
#pragma GCC unroll 8
  for (Index g = 0; g < Index{Groups}; ++g) sum[g] = Lanes::load(sums + g * kLanes);
  for (Index t = 0; t < rows; ++t) {
#pragma GCC unroll 8
    for (Index g = 0; g < Index{Groups}; ++g) {
      sum[g] = sum[g] + Lanes::load(x + t * stride + g * kLanes);
    }
  }
#pragma GCC unroll 8
  for (Index g = 0; g < Index{Groups}; ++g) sum[g].store(sums + g * kLanes);
}

void add_column_sums(const float* x, Index stride, Index rows, Index n, float* sums) {
  Index j = 0;
  for (; j + 4 * kLanes <= n; j += 4 * kLanes) column_sums_of<4>(x + j, stride, rows, sums + j);
  for (; j + kLanes <= n; j += kLanes) column_sums_of<1>(x + j, stride, rows, sums + j);
  if (j == n) return;
  Lanes sum = Lanes::load_partial(sums + j, n - j);
  for (Index t = 0; t < rows; ++t) sum = sum + Lanes::load_partial(x + t * stride + j, n - j);
  sum.store_partial(sums + j, n - j);
}

void blend(const float* x, float share, float* y, Index n) {
  const Lanes factor = Lanes::broadcast(share);
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes old = load_n(y + i, count);
    store_n(fma(load_n(x + i, count) - old, factor, old), y + i, count);
  });
}

float sum_of_squares(const float* x, Index n) {
  Lanes sum = Lanes::zero();
  for_each_lanes(n, [&](Index i, Index count) {
    const Lanes v = load_n(x + i, count);
    sum = fma(v, v, sum);
  });
  return sum_of_lanes(sum);
}

}  // namespace
}  // namespace attn
