// The common interface of matrix multiplications with weights.
//
// A weight is prepared once, in the one form in which it will be multiplied. The copy is a cache
// derived from the parameter, never the parameter itself. The forms, selected at run time:
//
//   PanelWeight     our kernels (kernels.h) on column panels. The default: nothing is repacked per
//                   call, one row costs one reading of the weight, and a row's bits do not depend
//                   on its neighbors or the threads. 16-bit files stay 16 bits.
//   Int8Weight      the same with int8 numbers, on request.
//   Bfloat16Weight  bfloat16 tiles, on request, on CPUs that multiply them.
//
// docs/decisions.md has the measurements behind the default.
#pragma once

#include <variant>
#include <vector>

#include "compute/batch_matmul.h"
#include "compute/bfloat16_weight.h"
#include "compute/int8/int8_weight.h"
#include "compute/kernels/kernels.h"
#include "compute/panel_weight.h"
#include "compute/parameter.h"
#include "compute/tensor.h"
#include "compute/threads.h"

namespace attn {

enum class Backend {
  panels,
  bfloat16,  ///< factors rounded to bfloat16 (bfloat16_weight.h)
  int8       ///< decoding only: factors quantized to int8 (int8_weight.h)
};

/// Returns panels, the only backend that ATTN_DEMO_BACKEND in the environment may name. Throws
/// UsageError if it names another.
Backend default_backend();

/// Options for preparing a matmul.
struct PreparationOptions : PackingOptions {
  // Implicit, so that a backend alone suffices.
  PreparationOptions(Backend by, FloatArena* into = nullptr,  // NOLINT(google-explicit-constructor)
                     const PackedCallback* on_packed = nullptr)
      : PackingOptions{into, on_packed}, backend(by) {}

  Backend backend;
};

/// y = x · [W₁ W₂ …] + [b₁ b₂ …]: several weights with the same input, side by side in one matmul.
class PackedLinear {
 public:
  PackedLinear() = default;

  /// weights: [in, outᵢ] each; biases: [1, outᵢ] each, or empty. Throws std::logic_error if the
  /// shapes do not match, and InputError if int8 cannot represent them (Int8Weight::pack).
  PackedLinear(const std::vector<Parameter>& weights, const std::vector<Parameter>& biases,
               PreparationOptions how, AccumulationLength chains = AccumulationLength::terms_64);

  /// Prepares the same matmul again in the same memory, after its weights have changed.
  void update(const std::vector<Parameter>& weights, const std::vector<Parameter>& biases);

  /// Computes y [T, out] from x [T, in]. Row t of y depends only on row t of x, bit for bit. With
  /// many rows, prefetches `next` into the near caches meanwhile.
  void operator()(const ConstMatrixRef& x, MatrixRef y, const Prefetch& next = {}) const {
    multiply({.x = x, .y = y, .bias = bias_.data(), .next = next});
  }
  /// Same, then applies the function to every number of y while it is in cache.
  void operator()(const ConstMatrixRef& x, MatrixRef y, RowFunction then) const {
    multiply({.x = x, .y = y, .bias = bias_.data(), .then = then});
  }
  /// Same as the first, but adds to y.
  void add(const ConstMatrixRef& x, MatrixRef y) const {
    multiply({.x = x, .y = y, .bias = bias_.data(), .add = true});
  }

  Index in() const { return in_; }
  Index out() const { return out_; }

 private:
  void prepare(const std::vector<Parameter>& weights, const std::vector<Parameter>& biases,
               const PackingOptions& how);
  void multiply(const BatchMatmul& p) const;

  Index in_ = 0;
  Index out_ = 0;
  std::variant<PanelWeight, Int8Weight, Bfloat16Weight> weight_;
  AlignedFloats bias_;  ///< [out], or null
};

/// Returns the floats of an arena that a matmul with this weight takes.
std::size_t prepared_floats(const Parameter& weight, Backend backend);

/// Computes c += aᵀ · b for a [T, M], b [T, N], c [M, N]: a weight's gradient from its layer's
/// inputs and output gradients. The bits of an element do not depend on the number of threads.
void add_transposed_matmul(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c,
                           Backend backend);

}  // namespace attn
