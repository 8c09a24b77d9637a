#include "nn/embedding.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/at.h"
#include "compute/threads.h"

namespace attn {

void embed(const EmbeddingTables& tables, const PositionedTokens& placed, MatrixRef out) {
  const auto& [table, positions, scale, token_without_position] = tables;
  const auto& [ids, position] = placed;
  for (std::size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] < 0 || ids[t] >= table.rows) throw std::logic_error("token id outside the table");
    float* row = out.data() + to_index(t) * out.outerStride();
    table.transposed().copy_column(ids[t], row);
    Eigen::Map<RowVector> numbers(row, table.columns);
    numbers *= scale;
    if (positions.data == nullptr || ids[t] == token_without_position) continue;
    if (position[t] < 0 || position[t] >= positions.rows)
      throw std::logic_error("no such position");
    const Eigen::Map<const RowVector, 0, Eigen::InnerStride<>> place(
        positions.data + position[t] * positions.row_stride, table.columns,
        Eigen::InnerStride<>(positions.column_stride));
    numbers += place;
  }
}

void embed_backward(const ConstMatrixRef& dout, const PositionedTokens& placed, int frozen,
                    const EmbeddingTables& gradients) {
  const Parameter& dtable = gradients.tokens;
  const Parameter& dpositions = gradients.positions;
  const float scale = gradients.scale;
  const std::span<const int> ids = placed.ids;
  const std::span<const Index> position = placed.position;
  // Columns per thread. Threads share columns rather than rows, so the gradients of a token that
  // occurs twice are added in the order of the text.
  constexpr Index kColumns = 64;
  const Index chunks = (dout.cols() + kColumns - 1) / kColumns;
  parallel_for(chunks, dout.size() * 2, [&](Index chunk) {
    const Index first = chunk * kColumns;
    const Index last = std::min(first + kColumns, dout.cols());
    for (std::size_t t = 0; t < ids.size(); ++t) {
      const float* gradient = dout.data() + to_index(t) * dout.outerStride();
      if (ids[t] != frozen) {
        float* row = dtable.data + ids[t] * dtable.row_stride;
        for (Index j = first; j < last; ++j) row[j] += scale * gradient[j];
      }
      if (dpositions.data == nullptr || ids[t] == gradients.token_without_position) continue;
      float* place = dpositions.data + position[t] * dpositions.row_stride;
      for (Index j = first; j < last; ++j) place[j] += gradient[j];
    }
  });
}

Matrix sinusoids(Index positions, Index d_model, SinusoidVariant kind, Index first) {
  Matrix table(positions, d_model);
  if (kind != SinusoidVariant::marian) {
    const bool narrow = kind == SinusoidVariant::m2m100;
    const Index half = d_model / 2;
    const double step = std::log(10000.0) / static_cast<double>(half - 1);
    for (Index i = 0; i < half; ++i) {
      // float32 would round the factor twice: the product and its exponential.
      const double product = -step * static_cast<double>(i);
      const double factor =
          narrow ? std::exp(static_cast<float>(i) * static_cast<float>(-step)) : std::exp(product);
      for (Index row = 0; row < positions; ++row) {
        const Index p = first + row;
        const double angle =
            narrow ? static_cast<double>(static_cast<float>(p) * static_cast<float>(factor))
                   : static_cast<double>(p) * factor;
        table(row, i) = static_cast<float>(std::sin(angle));
        table(row, half + i) = static_cast<float>(std::cos(angle));
      }
    }
    return table;
  }
  const Index sines = (d_model + 1) / 2;
  for (Index i = 0; i < sines; ++i) {
    const double divisor =
        std::pow(10000.0, 2.0 * static_cast<double>(i) / static_cast<double>(d_model));
    for (Index p = 0; p < positions; ++p) {
      const double angle = static_cast<double>(p) / divisor;
      table(p, i) = static_cast<float>(std::sin(angle));
      if (sines + i < d_model) table(p, sines + i) = static_cast<float>(std::cos(angle));
    }
  }
  return table;
}

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

void RotaryEmbedding::apply_rotary(MatrixRef rows, std::span<const Index> positions,
                                   Direction direction) const {
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
