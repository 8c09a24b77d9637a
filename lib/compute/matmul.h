// The one door to products with weights.
//
// A weight is prepared once for the backend that will multiply by it; the copy is a cache derived
// from the parameter, never the parameter itself. Three backends, picked at run time:
//
//   panels   our kernels (kernels.h) on column panels packed in advance. The default: nothing is
//            packed again at each call, one row costs one reading of the weight, and a row's bits
//            depend neither on its neighbours nor on the threads. A file's 16 bits stay 16 bits.
//   int8     the same of numbers of 8 bits (int8_kernels.h), where asked for.
//   plain    Eigen on the [in, out] matrix: the reference that tests compare the panels with.
//
// docs/decisions.md has the measurements behind the default.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "compute/bfloat16_product.h"
#include "compute/int8/int8_weight.h"
#include "compute/kernels/kernels.h"
#include "compute/kernels/read_next.h"
#include "compute/parameter.h"
#include "compute/tensor.h"
#include "compute/threads.h"

namespace attn {

enum class Backend {
  plain,
  panels,
  bfloat16,  ///< of training: factors rounded to bfloat16 (bfloat16_product.h)
  int8       ///< of decoding: factors rounded to 8 bits (int8_weight.h)
};

/// panels, or what ATTN_DEMO_BACKEND in the environment names: plain or panels. UsageError where
/// that is neither.
Backend default_backend();

/// How a product's terms are added up. Rounding errors grow with the length of a chain of
/// additions, so a long row is cut into chains as PyTorch's products cut it; longer ones read and
/// write the result less often.
enum class Chains : Index {
  of_64 = 64,    ///< terms: translating, where a score decides between two words
  of_256 = 256,  ///< terms: training, 5 % faster, and far below the noise of a batch
};

/// How a product is prepared.
struct Preparation {
  // A backend alone says how, too.
  Preparation(Backend by, FloatArena* into = nullptr,  // NOLINT(google-explicit-constructor)
              const WhenPacked* told = nullptr)
      : backend(by), arena(into), when_packed(told) {}

  /// Nobody reads these soon where they lie.
  void tell(const std::vector<Parameter>& weights) const;

  Backend backend;
  FloatArena* arena;              ///< what the prepared weight is put into; null: memory of its own
  const WhenPacked* when_packed;  ///< null, or an empty one: nobody asks
};

/// y = x · [W₁ W₂ …] + [b₁ b₂ …]: several weights of the same input side by side are one product.
class WeightProduct {
 public:
  WeightProduct() = default;

  /// weights: [in, outᵢ] each; biases: [1, outᵢ] each, or empty. std::logic_error where the shapes
  /// do not fit together; InputError where 8 bits cannot hold them (Int8Weight::pack).
  WeightProduct(const std::vector<Parameter>& weights, const std::vector<Parameter>& biases,
                Preparation how, Chains chains = Chains::of_64);

  /// Prepares the same product again after its weights have changed, in the same memory.
  void update(const std::vector<Parameter>& weights, const std::vector<Parameter>& biases);

  /// x [T, in] → y [T, out]. Row t of y is a function of row t of x alone, to the bit.
  /// What is read next comes into the near caches meanwhile, where the rows are many.
  void operator()(const ConstMatrixRef& x, MatrixRef y, const ReadNext& next = {}) const {
    multiply(x, y, false, nullptr, next);
  }
  /// The same, and then the function on every number of y, where it still lies in cache.
  void operator()(const ConstMatrixRef& x, MatrixRef y, RowFunction then) const {
    multiply(x, y, false, then);
  }
  /// The same as the first, added to what y holds.
  void add(const ConstMatrixRef& x, MatrixRef y) const { multiply(x, y, true, nullptr); }

  Index in() const { return in_; }
  Index out() const { return out_; }

 private:
  void prepare(const std::vector<Parameter>& weights, const std::vector<Parameter>& biases,
               const Preparation& how);
  void prepare_panels(const std::vector<Parameter>& weights, const Preparation& how);
  void multiply(const ConstMatrixRef& x, MatrixRef& y, bool add, RowFunction then,
                const ReadNext& next = {}) const;
  void multiply_panels(const ConstMatrixRef& x, MatrixRef& y, bool add,
                       const ReadNext& next = {}) const;
  void multiply_bfloat16(const ConstMatrixRef& x, MatrixRef& y, bool add) const;

  Backend backend_ = Backend::plain;
  Chains chains_ = Chains::of_64;
  Index in_ = 0;
  Index out_ = 0;
  AlignedFloats weight_;     ///< panels, or the [in, out] matrix
  bool of_16_bits_ = false;  ///< the panels hold binary16
  Bfloat16Weight tiles_;     ///< in their place where the CPU has tiles of bfloat16
  Int8Weight int8_;          ///< or of 8 bits
  AlignedFloats bias_;       ///< [out], or empty
};

/// Floats of an arena that the product with this weight takes.
std::size_t prepared_floats(const Parameter& weight, Backend backend);

/// c += aᵀ · b for a [T, M], b [T, N], c [M, N]: the gradient of a weight from its layer's inputs
/// and the gradients at its outputs. An element's bits do not depend on the number of threads.
void add_transposed_product(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c,
                            Backend backend);

}  // namespace attn
