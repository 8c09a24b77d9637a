#include "nn/attention/rotary_embedding.h"

#include <cmath>

#include "base/at.h"
#include "compute/threads.h"

namespace attn {

RotaryEmbedding::RotaryEmbedding(Index positions, Index head_dim)
    : head_dim_(head_dim), cosines_(positions, head_dim / 2), sines_(positions, head_dim / 2) {
  for (Index i = 0; i < head_dim / 2; ++i) {
    const double wave =
        std::pow(10000.0, 2.0 * static_cast<double>(i) / static_cast<double>(head_dim));
    for (Index p = 0; p < positions; ++p) {
      const double angle = static_cast<double>(p) / wave;
      cosines_(p, i) = static_cast<float>(std::cos(angle));
      sines_(p, i) = static_cast<float>(std::sin(angle));
    }
  }
}

void RotaryEmbedding::apply_rotary(MatrixRef rows, std::span<const Index> positions, Direction direction) const {
  const float sign = direction == Direction::forward ? 1.0F : -1.0F;
  const Index half = head_dim_ / 2;
  parallel_for(rows.rows(), rows.size() * 2, [&](Index t) {
    const float* cosines = cosines_.row(at(positions, t)).data();
    const float* sines = sines_.row(at(positions, t)).data();
    float* end = rows.data() + t * rows.outerStride() + rows.cols();
    for (float* head = end - rows.cols(); head < end; head += head_dim_) {
      for (Index i = 0; i < half; ++i) {
        const float first = head[i], second = head[i + half], sine = sign * sines[i];
        head[i] = first * cosines[i] - second * sine;
        head[i + half] = second * cosines[i] + first * sine;
      }
    }
  });
}

}  // namespace attn
