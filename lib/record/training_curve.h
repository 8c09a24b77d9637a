// The measurements of a training run so far: plain data for the picture of its curve.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace attn {

struct TrainingCurve {
  /// The mean label-smoothed loss (natural logarithm, per target token) since the previous point.
  struct Loss {
    std::uint64_t update = 0;
    double loss = 0;
  };
  struct Validation {
    std::uint64_t update = 0;
    double loss = 0;  ///< label-smoothed, on the validation set, without dropout
    double bleu = 0;  ///< 0 to 100
    double chrf = 0;  ///< 0 to 100
  };
  std::string title;  ///< text from outside, which the view escapes
  std::vector<Loss> train;
  std::vector<Validation> validations;
  std::optional<std::uint64_t> best_update;  ///< of the model that was kept
};

}  // namespace attn
