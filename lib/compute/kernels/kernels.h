// The inner loops, compiled once for each instruction set; kernels.cpp picks the running CPU's
// table. (portable.cpp, avx2.cpp, avx512.cpp, neon.cpp)
//
// Every table computes each number with the same operations in the same order: sums over a row run
// in sixteen lanes that are added in one fixed tree, products accumulate over `in` from first to
// last with fused multiply-adds. AVX2, AVX-512 and NEON therefore agree bit by bit, and so does a
// row computed alone with the same row computed among others.
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.h"

// What is read after a product is fetched while the product is computed: its multipliers leave the
// caches time that attention, which waits for keys and values, has not.
namespace attn {

constexpr Index kCacheLine = 64;  // bytes

/// Numbers that follow one another in memory. A product with many rows brings as many of them into
/// the second cache as there is time for.
struct Prefetch {
  const float* first = nullptr;
  Index floats = 0;

  /// The share of one of several tasks.
  Prefetch part(Index task, Index tasks) const {
    const Index begin = floats * task / tasks;
    return {first + begin, floats * (task + 1) / tasks - begin};
  }
  /// Cache lines for each of so many chains of `steps` steps, if none fetches more than one a step.
  Index lines_per_chain(Index chains, Index steps) const {
    if (chains == 0) return 0;
    const Index bytes = floats * Index{sizeof(float)};
    const Index lines = (bytes + chains * kCacheLine - 1) / (chains * kCacheLine);
    return lines < steps ? lines : steps;
  }
};

/// A packed weight as a kernel reads it: panels of `width` columns, each [in, width] and
/// contiguous, the last one filled up with zeros.
struct PanelMatmul {
  const float* x;  ///< [rows, in]
  Index x_stride;  ///< floats from one row of x to the next
  Index rows;
  Index in;
  const float* panels;  ///< ceil(out / width) panels
  Index out;
  const float* bias;  ///< [out], or null
  float* y;           ///< [rows, out]
  Index y_stride;
  Index panel_rows;     ///< rows of a panel in memory; `in` of them, from `panels` on, are used
  Index chain = 64;     ///< terms that are added up before they join the sum in y
  bool add = false;     ///< y += the product instead of y = it
  bool strips = false;  ///< x is packed by pack_strips(); x_stride means nothing
  /// What lies behind the panels is read next, and they come from memory or the last cache.
  bool fetches_ahead = false;
  Prefetch next = {};  ///< after the product
  /// The panels in binary16 instead, for a table that widens: the numbers are the same and so are
  /// the sums, and half as much is read. Not with strips.
  const std::uint16_t* narrow = nullptr;
  /// A part of `narrow` is widened once for many rows: where the first cache has room for it.
  bool widens_once = false;
};

/// One step of Adam for a block of parameters (Kingma and Ba 2015, algorithm 1).
struct AdamStep {
  float beta1;
  float beta2;
  float epsilon;
  float step_size;               ///< learning rate / (1 − β₁ᵗ)
  float second_moment_unbiased;  ///< 1 / √(1 − β₂ᵗ)
  float gradient_scale;          ///< what clipping multiplies gradients with
};

/// Which elements dropout keeps: element i where hash(key, i) ≥ threshold, so that the backward
/// pass asks again instead of remembering.
struct DropoutKey {
  std::uint64_t key;
  std::uint32_t threshold;  ///< probability to drop · 2³²
  float scale;              ///< 1 / (1 − probability): what the kept ones are multiplied with
};

/// Rows of keys or values as attention reads them: row j of head columns lies at
/// base + (rows ? rows[j] : j) · stride.
struct GatheredRows {
  const float* base;
  Index stride;
  const std::int32_t* rows;  ///< null: rows follow one another
};

/// Some rows of numbers, `stride` floats apart; one where only a pointer is given.
struct RowBlock {
  RowBlock(const float* one) : first(one) {}  // NOLINT(google-explicit-constructor)
  RowBlock(const float* first_row, Index apart, Index count)
      : first(first_row), stride(apart), rows(count) {}

  const float* first;
  Index stride = 0;
  Index rows = 1;
};

/// Rows of numbers that are written, `stride` floats apart.
struct OutRows {
  float* first;
  Index stride = 0;  ///< of one row: any
};

/// A norm as it meets one row.
struct NormRow {
  const float* weight;  ///< [n]
  const float* bias;    ///< [n]; the way back needs none, and rms_norm has none
  float epsilon;
  Index n;
};

/// Gradients at a layer norm's parameters, to be added to.
struct NormGradients {
  float* weight;  ///< [n]
  float* bias;    ///< [n]
};

/// A row of logits, and where the gradient at it goes.
struct LogitsRow {
  const float* logits;  ///< [n]
  float* gradient;      ///< [n]
};

/// What a loss function says of one token.
struct TokenLoss {
  float loss;
  float nll;  ///< −log p(target)
};

/// A block of parameters with what Adam knows of each.
struct AdamBlock {
  float* parameters;     ///< [n]
  float* first_moment;   ///< [n]
  float* second_moment;  ///< [n]
  float* gradient;       ///< [n]
  Index n;
};

/// A block of scores on its way into the running softmax of its rows (Milakov and Gimelshein 2018).
struct SoftmaxBlock {
  float*
      scores;  ///< [rows, n] in: products of queries and keys, −∞ where masked; out: exponentials
  Index stride;
  Index rows;
  Index n;
  float scale;  ///< a score is product · scale + bias
  float bias;
  float* maximum;  ///< [rows] of the scores so far
  float* sum;      ///< [rows] of exp(score − maximum) so far
  float* output;   ///< [rows, width] what the exponentials so far have summed up
  Index output_stride;
  Index width;
};

/// A block of scores on the way back.
struct BackwardBlock {
  float* scores;    ///< [rows, n] in: as SoftmaxBlock's; out: weights after dropout
  float* dweights;  ///< [rows, n] in: gradient at the weights after dropout; out: at the products
  Index stride;
  Index rows;
  Index n;
  float scale;
  float bias;
  const float* log_sum;       ///< [rows] ln Σ exp(score) of the whole row
  const float* delta;         ///< [rows] Σ weight · gradient at it, of the whole row
  const DropoutKey* dropout;  ///< null: off
  std::uint32_t first;        ///< number of the first weight in dropout's mask
  std::uint32_t row_step;     ///< from one row to the next in it
};

struct Kernels {
  /// Panels that hold so many columns.
  Index panels_of(Index columns) const { return (columns + panel_width - 1) / panel_width; }

  const char* name;   ///< "avx512", "avx2", "neon" or "portable"
  Index panel_width;  ///< columns of a panel
  Index row_block;    ///< rows that a kernel computes at a time
  bool widens;        ///< panel_matmul() takes panels of binary16, too
  Index score_chain;  ///< terms of attention's scores that are added up at a time (tiles)

  /// y[:, panels first … last) = x · W + bias.
  void (*panel_matmul)(const PanelMatmul& p, Index first_panel, Index last_panel);

  /// out_i[j] = query_i · key_j for n keys of `width` numbers.
  void (*dot_products)(const RowBlock& queries, const GatheredRows& keys, Index n, Index width,
                       OutRows out);

  /// out_i = Σ_j weights_i[j] · value_j, added from the first row to the last.
  void (*weighted_sums)(const RowBlock& weights, const GatheredRows& values, Index n, Index width,
                        OutRows out);

  /// In place: exp(x − max) / Σ. −∞ becomes exactly 0. A row of only −∞ becomes all zeros, and one
  /// with NaN or ∞ all NaN.
  void (*softmax)(float* row, Index n);

  /// `n` rows of `width` numbers as the columns of panels, as panel_matmul() reads them:
  /// ceil(n / panel_width) panels of [width, panel_width], filled up with zeros.
  void (*pack_columns)(const GatheredRows& rows, Index n, Index width, float* panels);

  /// The same rows as the rows of panels: ceil(width / panel_width) panels of [n, panel_width].
  /// Whether all of them are finite.
  bool (*pack_rows)(const GatheredRows& rows, Index n, Index width, float* panels);

  void (*softmax_block)(const SoftmaxBlock& block);
  void (*backward_block)(const BackwardBlock& block);

  /// max(row) and ln Σ exp(row − max), NaN where the row holds NaN or ∞. Whether all of it is
  /// finite.
  bool (*log_sum_exp)(const float* row, Index n, float* maximum, float* log_sum);

  /// out = (x − mean) / sqrt(variance + epsilon) · weight + bias. In place where out is x.
  void (*layer_norm)(const NormRow& norm, const float* x, float* out);
  /// out = x / sqrt(mean of squares + epsilon) · weight. In place where out is x.
  void (*rms_norm)(const NormRow& norm, const float* x, float* out);

  void (*add)(const float* x, float* y, Index n);       ///< y += x
  void (*multiply)(const float* x, float* y, Index n);  ///< y *= x
  void (*relu)(float* x, Index n);
  void (*gelu)(float* x, Index n);   ///< x · Φ(x), by erf
  void (*swish)(float* x, Index n);  ///< x · sigmoid(x)
  /// x/2 · (1 + tanh u) with u = √(2/π) · (x + 0.044715 x³), which is x · sigmoid(2u).
  void (*gelu_new)(float* x, Index n);

  /// Index of the first maximum; NaN never wins.
  Index (*arg_max)(const float* row, Index n);

  /// First index in [begin, n) whose element is above the bound; n where there is none.
  Index (*find_above)(const float* row, Index begin, Index n, float bound);

  // What training needs besides.

  /// x [k, columns] as strips of row_block columns, each [k, row_block] and contiguous, the last
  /// one filled up with zeros: the transpose of x as panel_matmul() reads it.
  void (*pack_strips)(const float* x, Index x_stride, Index k, Index columns, float* strips);

  /// In place: multiplies kept elements by the scale and makes the others 0; element i of x is
  /// number first + i of the mask.
  void (*dropout)(const DropoutKey& key, std::uint32_t first, float* x, Index n);

  /// In place: the gradient at the scores from the one at the weights: w ⊙ (dw − Σ w ⊙ dw) · scale.
  void (*softmax_backward)(const float* weights, float scale, float* dweights, Index n);

  /// dx from dy at the output; x is the layer's input. In place where dx is dy.
  void (*layer_norm_backward)(const NormRow& norm, const float* x, const float* dy, float* dx,
                              const NormGradients& gradients);
  /// The same of rms_norm, whose weight is all its parameters.
  void (*rms_norm_backward)(const NormRow& norm, const float* x, const float* dy, float* dx,
                            float* dweight);

  /// In place on dy: times the function's slope; relu's is read from its output, the others' from
  /// their input.
  void (*relu_backward)(const float* y, float* dy, Index n);
  void (*gelu_backward)(const float* x, float* dy, Index n);
  void (*swish_backward)(const float* x, float* dy, Index n);
  void (*gelu_new_backward)(const float* x, float* dy, Index n);

  /// Label-smoothed cross-entropy of one row of logits (see nn/cross_entropy.h); the row becomes
  /// the loss's gradient times `scale`.
  TokenLoss (*cross_entropy)(float* row, Index n, Index target, float smoothing, float scale);

  /// ½ KL(P‖Q) + ½ KL(Q‖P) of P = softmax(x's logits) and Q = softmax(y's); the gradients are times
  /// `scale`.
  float (*divergence)(const LogitsRow& x, const LogitsRow& y, Index n, float scale);

  /// Updates parameters and both moments from the gradient, and leaves the gradient zero for the
  /// next update. Whether all parameters are finite.
  bool (*adam)(const AdamStep& step, const AdamBlock& block);

  /// sums[j] += Σ_t x[t · stride + j] over `rows` rows, added from the first to the last.
  void (*add_column_sums)(const float* x, Index stride, Index rows, Index n, float* sums);

  void (*blend)(const float* x, float share, float* y, Index n);  ///< y += share · (x − y)
  float (*sum_of_squares)(const float* x, Index n);
};

/// The table of the running CPU. ATTN_DEMO_CPU=portable, avx2, avx512 or neon in the environment
/// asks for one (tests run under each); UsageError where that is none of them, or more than this
/// CPU has.
const Kernels& kernels();

/// All that this CPU can run, the portable one first, the fastest last.
std::vector<const Kernels*> all_kernels();

// Constant data: what defines a table runs no code at start, whatever the CPU.
extern const Kernels portable_table;
extern const Kernels avx2_table;    // x86-64
extern const Kernels avx512_table;  // x86-64
extern const Kernels neon_table;    // arm64

// The random numbers of dropout: a function of a key and the element's index, so that the backward
// pass makes the forward pass's mask again instead of storing it, and every machine makes the same.

constexpr std::uint32_t kDropoutStride = 0x9E3779B9U;  // 2³² / golden ratio: spreads the indices
constexpr std::uint32_t kDropoutFirst = 0x7FEB352DU;
constexpr std::uint32_t kDropoutSecond = 0x846CA68BU;

/// 32 bits for element `index`: shifts and odd multipliers in turn, until every bit of the result
/// depends on every bit of the index. Keys are hashes themselves (nn/dropout): ones that differ in
/// a few upper bits only would give masks that resemble each other. Tests check that the bits are
/// even and that neighbours, and the masks of a pass, are independent.
constexpr std::uint32_t dropout_hash(std::uint64_t key, std::uint32_t index) {
  std::uint32_t h = index * kDropoutStride + static_cast<std::uint32_t>(key);
  h ^= h >> 16;
  h = (h * kDropoutFirst) ^ static_cast<std::uint32_t>(key >> 32);
  h ^= h >> 15;
  h *= kDropoutSecond;
  return h ^ (h >> 16);
}

}  // namespace attn
