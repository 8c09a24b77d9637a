// Weights in 32 bits, or the 16 of their file, as panels of columns (kernels.h).
#pragma once

#include <cstdint>
#include <vector>

#include "compute/batch_matmul.h"
#include "compute/parameter.h"
#include "compute/tensor.h"

namespace attn {

/// How a product's terms are added up. Rounding errors grow with the length of a chain of
/// additions, so a long row is cut into chains as PyTorch's products cut it; longer ones read and
/// write the result less often.
enum class AccumulationLength : Index {
  terms_64 = 64,    ///< terms: translating, where a score decides between two words
  terms_256 = 256,  ///< terms: training, 5 % faster, and far below the noise of a batch
};

/// Weights side by side, [in, out] in all. Nothing is packed again at each product, and one row
/// costs one reading of the weight.
class PanelWeight {
 public:
  /// rounds: weights and rows count as rounded to bfloat16, for a CPU without tiles of it.
  explicit PanelWeight(AccumulationLength chains = AccumulationLength::terms_64,
                       bool rounds = false)
      : chains_(chains), rounds_(rounds) {}

  /// Every weight has `in` rows. The numbers of a file stay in binary16 where all are, and the
  /// kernel widens what it multiplies by: the same bits from half the memory.
  void pack(const std::vector<Parameter>& weights, Index in, Index out, const PackingOptions& how);

  /// Row t of y is a function of row t of x alone, to the bit, on any number of threads.
  void multiply(const BatchMatmul& p) const;

 private:
  void multiply_rows(const ConstMatrixRef& x, const BatchMatmul& p) const;

  AccumulationLength chains_;
  bool rounds_;
  bool of_16_bits_ = false;  ///< the panels hold binary16
  Index in_ = 0;
  Index out_ = 0;
  AlignedFloats panels_;
};

/// Floats of an arena that pack() takes for this weight.
std::size_t panel_weight_floats(const Parameter& weight);

// Weights as the kernels of products read them: panels of columns (kernels.h), packed once.

/// Whether all of them are the binary16 of a file, without a scale.
bool all_float16(const std::vector<Parameter>& weights);

/// Floats of memory that panels of [in, out] take.
Index panel_floats(Index in, Index out, bool of_16_bits);

/// Weights [in, outᵢ] side by side, out columns in all, as panels, the last one filled up with
/// zeros.
/// `then`: what becomes of each number, null: nothing.
void pack_panels(const std::vector<Parameter>& weights, Index in, Index out, float* panels,
                 float (*then)(float));
/// The same of the 16 bits of weights that all_float16.
void pack_panels(const std::vector<Parameter>& weights, Index in, Index out, std::uint16_t* panels);

}  // namespace attn
