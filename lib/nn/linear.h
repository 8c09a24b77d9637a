// The affine map y = x · W + b, with W stored the way it is used: [in, out].
#pragma once

#include "base/matmul.h"

namespace attn {

struct Linear {
  Parameter weight;  ///< [in, out]
  Parameter bias;    ///< [1, out]; data null: none

  /// The product for repeated use; a copy of the numbers as they are now.
  WeightProduct prepare(Backend backend) const {
    if (bias.data == nullptr) return {{weight}, {}, backend};
    return {{weight}, {bias}, backend};
  }
};

}  // namespace attn
