// Dropout (Srivastava et al. 2014): training sets each number to 0 with probability p and
// multiplies the others by 1 / (1 − p), so that the expectation stays the same.
//
// The mask is a hash of a key and the number's index (dropout_hash() in compute/kernels/kernels.h).
// Forward and backward are therefore the same function, and nothing is stored in between.
#pragma once

#include "compute/kernels/kernels.h"
#include "compute/tensor.h"

namespace attn {

/// The dropout at one place of the model in one pass. Default: off.
class Dropout {
 public:
  Dropout() = default;
  Dropout(float probability, std::uint64_t key);

  bool active() const { return active_; }
  /// Returns the key that a kernel reads; null: dropout is off.
  const DropoutKey* key() const { return active_ ? &mask_ : nullptr; }
  /// Returns another mask of the same probability, for numbers that would otherwise share one.
  Dropout other(std::uint64_t mask) const;

  /// Applies dropout in place. x is [T, n]; element (t, j) has the mask's number t · n + j.
  void apply(MatrixRef x) const;
  /// Does the same for n numbers, beginning with number `first`.
  void apply(float* x, Index n, Index first) const {
    if (active_) kernels().dropout(mask_, static_cast<std::uint32_t>(first), x, n);
  }

 private:
  bool active_ = false;
  DropoutKey mask_{0, 0, 1.0F};
};

/// Provides the keys of one pass, which differ for every place of the model, pass and seed.
class DropoutKeys {
 public:
  /// `pass` is the number of the batch since training began.
  DropoutKeys(std::uint64_t seed, std::uint64_t pass) : seed_(seed), pass_(pass) {}
  Dropout next(float probability);

 private:
  std::uint64_t seed_;
  std::uint64_t pass_;
  std::uint64_t place_ = 0;
};

}  // namespace attn
