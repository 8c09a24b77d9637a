// Weights as column panels (kernels.h), in 32 bits or in the 16 bits of their file.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/batch_matmul.h"
#include "compute/parameter.h"
#include "compute/tensor.h"

namespace attn {

/// The length of the chains in which a matmul's terms are summed. Rounding errors grow with the
/// length of a chain, so long sums are cut into chains, as in PyTorch. Longer chains read and write
/// the result less often.
enum class AccumulationLength : Index {
  terms_64 = 64,    ///< terms: translation, where a score decides between two words
  terms_256 = 256,  ///< terms: training; 5 % faster, error far below the noise of a batch
};

/// Weights side by side, [in, out] in total. Nothing is repacked per matmul, and one row costs one
/// reading of the weight.
class PanelWeight {
 public:
  /// rounds: round weights and rows to bfloat16, for CPUs without bfloat16 tiles.
  explicit PanelWeight(AccumulationLength chains = AccumulationLength::terms_64,
                       bool rounds = false)
      : chains_(chains), rounds_(rounds) {}

  /// Packs weights of `in` rows each. If all come from binary16 files they stay so, and the kernel
  /// widens them as it multiplies: the same bits from half the memory.
  void pack(const std::vector<Parameter>& weights, Index in, Index out, const PackingOptions& how);

  /// Multiplies. Row t of y depends only on row t of x, bit for bit, on any number of threads.
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

/// Returns the floats of an arena that pack() takes for this weight.
std::size_t panel_weight_floats(const Parameter& weight);

// Packing weights into the column panels that the matmul kernels read (kernels.h).

/// True if all weights are binary16 numbers of a file, without scales.
bool all_float16(const std::vector<Parameter>& weights);

/// Returns the floats of memory for panels of [in, out].
Index panel_floats(Index in, Index out, bool of_16_bits);

/// Packs weights [in, outᵢ] side by side, `out` columns in total, as panels, the last one padded
/// with zeros. `then` is applied to each number; null: none.
void pack_panels(const std::vector<Parameter>& weights, Index in, Index out, float* panels,
                 float (*then)(float));
/// Same for the 16-bit numbers of weights for which all_float16() is true.
void pack_panels(const std::vector<Parameter>& weights, Index in, Index out, std::uint16_t* panels);

}  // namespace attn
