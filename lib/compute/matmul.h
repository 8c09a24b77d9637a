// The one door to products with weights.
//
// A weight is prepared once, in the one form in which it will be multiplied; the copy is a cache
// derived from the parameter, never the parameter itself. The forms, picked at run time:
//
//   PanelWeight     our kernels (kernels.h) on column panels. The default: nothing is packed again
//                   at each call, one row costs one reading of the weight, and a row's bits depend
//                   neither on its neighbours nor on the threads. A file's 16 bits stay 16 bits.
//   Int8Weight      the same of numbers of 8 bits, where asked for.
//   Bfloat16Weight  tiles of bfloat16, where asked for, on CPUs that multiply them.
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
  bfloat16,  ///< factors rounded to bfloat16 (bfloat16_product.h)
  int8       ///< of decoding: factors rounded to 8 bits (int8_weight.h)
};

/// panels, which is all that ATTN_DEMO_BACKEND in the environment may name. UsageError where it
/// names another.
Backend default_backend();

/// How a product is prepared.
struct PreparationOptions : PackingOptions {
  // A backend alone says how, too.
  PreparationOptions(Backend by, FloatArena* into = nullptr,  // NOLINT(google-explicit-constructor)
                     const PackedCallback* on_packed = nullptr)
      : PackingOptions{into, on_packed}, backend(by) {}

  Backend backend;
};

/// y = x · [W₁ W₂ …] + [b₁ b₂ …]: several weights of the same input side by side are one product.
class PackedLinear {
 public:
  PackedLinear() = default;

  /// weights: [in, outᵢ] each; biases: [1, outᵢ] each, or empty. std::logic_error where the shapes
  /// do not fit together; InputError where 8 bits cannot hold them (Int8Weight::pack).
  PackedLinear(const std::vector<Parameter>& weights, const std::vector<Parameter>& biases,
               PreparationOptions how, AccumulationLength chains = AccumulationLength::terms_64);

  /// Prepares the same product again after its weights have changed, in the same memory.
  void update(const std::vector<Parameter>& weights, const std::vector<Parameter>& biases);

  /// x [T, in] → y [T, out]. Row t of y is a function of row t of x alone, to the bit.
  /// What is read next comes into the near caches meanwhile, where the rows are many.
  void operator()(const ConstMatrixRef& x, MatrixRef y, const Prefetch& next = {}) const {
    multiply({.x = x, .y = y, .bias = bias_.data(), .next = next});
  }
  /// The same, and then the function on every number of y, where it still lies in cache.
  void operator()(const ConstMatrixRef& x, MatrixRef y, RowFunction then) const {
    multiply({.x = x, .y = y, .bias = bias_.data(), .then = then});
  }
  /// The same as the first, added to what y holds.
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

/// Floats of an arena that the product with this weight takes.
std::size_t prepared_floats(const Parameter& weight, Backend backend);

/// c += aᵀ · b for a [T, M], b [T, N], c [M, N]: the gradient of a weight from its layer's inputs
/// and the gradients at its outputs. An element's bits do not depend on the number of threads.
/// (transposed_product.cpp)
void add_transposed_matmul(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c,
                           Backend backend);

}  // namespace attn
