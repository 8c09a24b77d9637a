#include "nn/dropout.h"

#include <cmath>

#include "base/random.h"
#include "compute/matmul.h"

namespace attn {

Dropout::Dropout(float probability, std::uint64_t key) : active_(probability > 0.0F) {
  const double p = static_cast<double>(probability);
  mask_ = {key, static_cast<std::uint32_t>(std::llround(p * 0x1p32)),
           static_cast<float>(1.0 / (1.0 - p))};
}

Dropout Dropout::other(std::uint64_t mask) const {
  const std::uint64_t numbers[2] = {mask_.key, mask};
  Dropout other = *this;
  other.mask_.key = fnv1a(numbers, sizeof numbers);
  return other;
}

void Dropout::apply(MatrixRef x) const {
  if (!active_) return;
  parallel_for(x.rows(), x.size() * 4,
               [&](Index t) { apply(x.data() + t * x.outerStride(), x.cols(), t * x.cols()); });
}

Dropout DropoutKeys::next(float probability) {
  const std::uint64_t numbers[3] = {seed_, pass_, place_++};
  return {probability, fnv1a(numbers, sizeof numbers)};
}

}  // namespace attn
