// The inner loops, compiled once per instruction set (portable.cpp, avx2.cpp, avx512.cpp,
// neon.cpp); kernels.cpp selects the running CPU's table.
//
// Every table computes each number with the same operations in the same order. Sums over a row run
// in sixteen lanes that are added in one fixed tree; matmuls accumulate over `in` from first to
// last with fused multiply-adds. AVX2, AVX-512 and NEON therefore agree bit for bit, and a row has
// the same bits computed alone or among others.
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.h"

// Prefetching. The memory that is read after a matmul is fetched during it: multiplication leaves
// the caches idle time, while attention, which waits for keys and values, does not.
namespace attn {

constexpr Index kCacheLine = 64;  // bytes

/// A contiguous range of numbers. A matmul with many rows prefetches as much of it into the L2
/// cache as its time allows.
struct Prefetch {
  const float* first = nullptr;
  Index floats = 0;

  /// Returns the share of one of several tasks.
  Prefetch part(Index task, Index tasks) const {
    const Index begin = floats * task / tasks;
    return {first + begin, floats * (task + 1) / tasks - begin};
  }
  /// Returns the cache lines that each of `chains` chains of `steps` steps should fetch, at most
  /// one per step.
  Index lines_per_chain(Index chains, Index steps) const {
    if (chains == 0) return 0;
    const Index bytes = floats * Index{sizeof(float)};
    const Index lines = (bytes + chains * kCacheLine - 1) / (chains * kCacheLine);
    return lines < steps ? lines : steps;
  }
};

/// The product of rows and a packed weight: contiguous panels of as many columns as a kernel takes
/// at once, each [in, columns], the last one padded with zeros.
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
  Index panel_rows;     ///< rows of a panel in memory; `in` of them are used, beginning at `panels`
  Index chain = 64;     ///< terms that are summed before they are added to the sum in y
  bool add = false;     ///< y += x · W + bias
  bool strips = false;  ///< x is packed by pack_strips(); x_stride is ignored
  /// The data after the panels is read next; panels come from memory or the last-level cache.
  bool fetches_ahead = false;
  Prefetch next = {};  ///< memory that is read after the matmul
  /// The panels in binary16 instead, for tables that widen. Numbers and sums are the same, but half
  /// as much is read. Not with strips.
  const std::uint16_t* narrow = nullptr;
  /// Widen each part of `narrow` once for many rows; needs room in the L1 cache.
  bool widens_once = false;
};

/// The constants of one Adam step (Kingma and Ba 2015, algorithm 1).
struct AdamStep {
  float beta1;
  float beta2;
  float epsilon;
  float step_size;               ///< learning rate / (1 − β₁ᵗ)
  float second_moment_unbiased;  ///< 1 / √(1 − β₂ᵗ)
  float gradient_scale;          ///< factor by which clipping scales gradients
};

/// The dropout mask: element i is kept if hash(key, i) ≥ threshold, so the backward pass recomputes
/// it instead of storing it.
struct DropoutKey {
  std::uint64_t key;
  std::uint32_t threshold;  ///< drop probability · 2³²
  float scale;              ///< 1 / (1 − probability): the factor for kept elements
};

/// Rows of keys or values as attention reads them. Column 0 of row j, for one head, is at base +
/// (rows ? rows[j] : j) · stride.
struct GatheredRows {
  const float* base;
  Index stride;
  const std::int32_t* rows;  ///< null: rows are contiguous
};

/// Rows of numbers, `stride` floats apart; a single row if constructed from a pointer.
struct RowBlock {
  RowBlock(const float* one) : first(one) {}  // NOLINT(google-explicit-constructor)
  RowBlock(const float* first_row, Index apart, Index count)
      : first(first_row), stride(apart), rows(count) {}

  const float* first;
  Index stride = 0;
  Index rows = 1;
};

/// Output rows of numbers, `stride` floats apart.
struct OutRows {
  float* first;
  Index stride = 0;  ///< any value for a single row
};

/// The parameters of a norm for one row.
struct NormRow {
  const float* weight;  ///< [n]
  const float* bias;    ///< [n]; unused by backward passes, absent in rms_norm
  float epsilon;
  Index n;
};

/// The gradients of a layer norm's parameters, which kernels add to.
struct NormGradients {
  float* weight;  ///< [n]
  float* bias;    ///< [n]
};

/// A row of logits and the destination of its gradient.
struct LogitsRow {
  const float* logits;  ///< [n]
  float* gradient;      ///< [n]
};

/// The loss of one token.
struct TokenLoss {
  float loss;
  float nll;  ///< −log p(target)
};

/// A block of parameters with their Adam state.
struct AdamBlock {
  float* parameters;     ///< [n]
  float* first_moment;   ///< [n]
  float* second_moment;  ///< [n]
  float* gradient;       ///< [n]
  Index n;
};

/// A block of scores to be added to its rows' running softmax (Milakov and Gimelshein 2018).
struct SoftmaxBlock {
  float* scores;  ///< [rows, n] in: dot products of queries and keys, −∞ where masked; out:
                  ///< exponentials
  Index stride;
  Index rows;
  Index n;
  float scale;  ///< score = dot product · scale + bias
  float bias;
  float* maximum;  ///< [rows] maximum of the scores so far
  float* sum;      ///< [rows] of exp(score − maximum) so far
  float* output;   ///< [rows, width] values summed with the exponentials so far
  Index output_stride;
  Index width;
};

/// A block of scores in the backward pass.
struct BackwardBlock {
  float* scores;  ///< [rows, n] in: as in SoftmaxBlock; out: weights after dropout
  float*
      dweights;  ///< [rows, n] in: gradient of the weights after dropout; out: of the dot products
  Index stride;
  Index rows;
  Index n;
  float scale;
  float bias;
  const float* log_sum;       ///< [rows] ln Σ exp(score) of the whole row
  const float* delta;         ///< [rows] Σ weight · its gradient, over the whole row
  const DropoutKey* dropout;  ///< null: off
  std::uint32_t first;        ///< index of the first weight in the dropout mask
  std::uint32_t row_step;     ///< step from one row to the next in the mask
};

struct Kernels {
  /// Returns the number of panels for this many columns.
  Index panels_of(Index columns) const { return (columns + panel_width - 1) / panel_width; }

  const char* name;   ///< "avx512", "avx2", "neon" or "portable"
  Index panel_width;  ///< columns of a panel
  Index row_block;    ///< rows that a kernel computes at a time
  bool widens;        ///< panel_matmul() also reads binary16 panels
  Index score_chain;  ///< terms of an attention score that are summed at a time (tiles)

  /// Computes y[:, panels first … last) = x · W + bias.
  void (*panel_matmul)(const PanelMatmul& p, Index first_panel, Index last_panel);

  /// Computes out_i[j] = query_i · key_j for n keys of `width` numbers.
  void (*dot_products)(const RowBlock& queries, const GatheredRows& keys, Index n, Index width,
                       OutRows out);

  /// Computes out_i = Σ_j weights_i[j] · value_j, added from the first row to the last.
  void (*weighted_sums)(const RowBlock& weights, const GatheredRows& values, Index n, Index width,
                        OutRows out);

  /// Computes exp(x − max) / Σ in place. −∞ becomes exactly 0. A row of only −∞ becomes all zeros,
  /// and a row with NaN or ∞ all NaN.
  void (*softmax)(float* row, Index n);

  /// Packs `n` rows of `width` numbers as the columns of panels for panel_matmul(): ceil(n /
  /// panel_width) panels of [width, panel_width], padded with zeros.
  void (*pack_columns)(const GatheredRows& rows, Index n, Index width, float* panels);

  /// Packs the same rows as the rows of panels: ceil(width / panel_width) panels of [n,
  /// panel_width]. Returns true if all numbers are finite.
  bool (*pack_rows)(const GatheredRows& rows, Index n, Index width, float* panels);

  void (*softmax_block)(const SoftmaxBlock& block);
  void (*backward_block)(const BackwardBlock& block);

  /// Computes max(row) and ln Σ exp(row − max), NaN if the row holds NaN or ∞. Returns true if all
  /// numbers are finite.
  bool (*log_sum_exp)(const float* row, Index n, float* maximum, float* log_sum);

  /// Computes out = (x − mean) / sqrt(variance + epsilon) · weight + bias; out may be x.
  void (*layer_norm)(const NormRow& norm, const float* x, float* out);
  /// Computes out = x / sqrt(mean of squares + epsilon) · weight; out may be x.
  void (*rms_norm)(const NormRow& norm, const float* x, float* out);

  void (*add)(const float* x, float* y, Index n);       ///< y += x
  void (*multiply)(const float* x, float* y, Index n);  ///< y *= x
  void (*relu)(float* x, Index n);
  void (*gelu)(float* x, Index n);   ///< x · Φ(x), using erf
  void (*swish)(float* x, Index n);  ///< x · sigmoid(x)
  /// Computes x/2 · (1 + tanh u) with u = √(2/π) · (x + 0.044715 x³), which equals x · sigmoid(2u).
  void (*gelu_new)(float* x, Index n);

  /// Returns the index of the first maximum; NaN never wins.
  Index (*arg_max)(const float* row, Index n);

  /// Returns the first index in [begin, n) whose element is above the bound, or n if there is none.
  Index (*find_above)(const float* row, Index begin, Index n, float bound);

  // Additional kernels for training.

  /// Packs x [k, columns] as strips of row_block columns, each [k, row_block] and contiguous, the
  /// last one padded with zeros: the transpose of x in the form that panel_matmul() reads.
  void (*pack_strips)(const float* x, Index x_stride, Index k, Index columns, float* strips);

  /// Scales kept elements and zeroes the others, in place. Element i of x is element first + i of
  /// the mask.
  void (*dropout)(const DropoutKey& key, std::uint32_t first, float* x, Index n);

  /// Converts the gradient of the weights to that of the scores, in place: w ⊙ (dw − Σ w ⊙ dw) ·
  /// scale.
  void (*softmax_backward)(const float* weights, float scale, float* dweights, Index n);

  /// Computes dx from the output's gradient dy; x is the layer's input. dx may be dy.
  void (*layer_norm_backward)(const NormRow& norm, const float* x, const float* dy, float* dx,
                              const NormGradients& gradients);
  /// Same for rms_norm, whose only parameter is its weight.
  void (*rms_norm_backward)(const NormRow& norm, const float* x, const float* dy, float* dx,
                            float* dweight);

  /// Multiplies dy in place by the function's derivative, computed from relu's output or from the
  /// input of the others.
  void (*relu_backward)(const float* y, float* dy, Index n);
  void (*gelu_backward)(const float* x, float* dy, Index n);
  void (*swish_backward)(const float* x, float* dy, Index n);
  void (*gelu_new_backward)(const float* x, float* dy, Index n);

  /// Computes the label-smoothed cross-entropy of a row of logits (see nn/cross_entropy.h), and
  /// replaces the row by the loss's gradient times `scale`.
  TokenLoss (*cross_entropy)(float* row, Index n, Index target, float smoothing, float scale);

  /// Computes ½ KL(P‖Q) + ½ KL(Q‖P) for P = softmax(x's logits) and Q = softmax(y's); gradients are
  /// multiplied by `scale`.
  float (*divergence)(const LogitsRow& x, const LogitsRow& y, Index n, float scale);

  /// Updates parameters and both moments from the gradient, then zeroes the gradient for the next
  /// update. Returns true if all parameters are finite.
  bool (*adam)(const AdamStep& step, const AdamBlock& block);

  /// Computes sums[j] += Σ_t x[t · stride + j] over `rows` rows, added from first to last.
  void (*add_column_sums)(const float* x, Index stride, Index rows, Index n, float* sums);

  void (*blend)(const float* x, float share, float* y, Index n);  ///< y += share · (x − y)
  float (*sum_of_squares)(const float* x, Index n);
};

/// Returns the running CPU's table. ATTN_DEMO_CPU=portable, avx2, avx512 or neon in the environment
/// selects one (tests run with each). Throws UsageError if the value is none of them or this CPU
/// cannot run it.
const Kernels& kernels();

/// Returns all tables that this CPU can run, from the portable one to the fastest.
std::vector<const Kernels*> all_kernels();

// Tables are constant data: defining one runs no code at startup on any CPU.
extern const Kernels portable_table;
extern const Kernels avx2_table;    // x86-64
extern const Kernels avx512_table;  // x86-64
extern const Kernels neon_table;    // arm64

// Dropout's random numbers are a function of a key and the element's index. The backward pass
// recomputes the forward pass's mask instead of storing it, and all machines get the same mask.

constexpr std::uint32_t kDropoutStride = 0x9E3779B9U;  // 2³² / golden ratio: spreads the indices
constexpr std::uint32_t kDropoutFirst = 0x7FEB352DU;
constexpr std::uint32_t kDropoutSecond = 0x846CA68BU;

/// Returns 32 random bits for element `index`: shifts alternate with odd multipliers until every
/// bit of the result depends on every bit of the index. Keys are hashes themselves (nn/dropout),
/// because keys that differ only in a few upper bits would give similar masks. Tests check that the
/// bits are uniform and that neighbors, and the masks of a pass, are independent.
constexpr std::uint32_t dropout_hash(std::uint64_t key, std::uint32_t index) {
  std::uint32_t h = index * kDropoutStride + static_cast<std::uint32_t>(key);
  h ^= h >> 16;
  h = (h * kDropoutFirst) ^ static_cast<std::uint32_t>(key >> 32);
  h ^= h >> 15;
  h *= kDropoutSecond;
  return h ^ (h >> 16);
}

}  // namespace attn
