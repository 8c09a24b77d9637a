// Sorts the rows of a head for lsh. Random rotations assign rows to buckets, and a stable sort by
// bucket gives the chunks.
#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "nn/attention/attention_mask.h"
#include "nn/attention/patterns/lsh_attention.h"

namespace attn {
namespace {

/// Returns the bucket of a rotated vector x: the index of the largest element of [x, −x].
template <typename T>
std::int32_t bucket_of(const T* rotated, Index half) {
  const T* largest = std::max_element(rotated, rotated + half);
  const T* smallest = std::min_element(rotated, rotated + half);
  if (-*smallest > *largest) return narrow_cast<std::int32_t>(half + (smallest - rotated));
  return narrow_cast<std::int32_t>(largest - rotated);
}

/// True if another element of [x, −x] is within `error` of the largest. If x has one element, true
/// if its sign is uncertain.
bool is_close(const float* rotated, Index half, float error) {
  float largest = -1.0F, second = -1.0F;
  for (Index c = 0; c < half; ++c) {
    const float size = std::abs(rotated[c]);
    second = std::max(second, std::min(size, largest));
    largest = std::max(largest, size);
  }
  return largest - second <= 2 * error || largest <= error;
}

/// The rotations of one head [K, rounds · half], and the buckets that they give.
class Rotations {
 public:
  Rotations(const Parameter& all, Index head, Index width, Index rounds, Index half)
      : rows_{all.data + head * width * all.row_stride, all.row_stride, nullptr},
        width_(width),
        rounds_(rounds),
        half_(half),
        panels_(to_size(kernels().panels_of(columns()) * kernels().panel_width * width)),
        rotated_(to_size(columns())),
        exact_(to_size(half)) {
    kernels().pack_rows(rows_, width_, columns(), panels_.data());
    RowVector squares = RowVector::Zero(columns());
    for (Index k = 0; k < width_; ++k) {
      for (Index c = 0; c < columns(); ++c) squares[c] += row(k)[c] * row(k)[c];
    }
    longest_ = std::sqrt(squares.size() > 0 ? squares.maxCoeff() : 0.0F);
  }

  /// Calls f(round, bucket) for each round. If floats cannot tell which of two elements is larger,
  /// doubles decide: a dot product of K floats is off by less than (K + 2) · 2⁻²⁴ · |query| ·
  /// |rotation|.
  template <typename F>
  void for_each_bucket(const float* query, F&& f) {
    PanelMatmul product =
        panel_matmul_of(query, width_, panels_.data(), columns(), rotated_.data());
    product.rows = 1;
    run_panel_matmul(product);
    const float length = std::sqrt(kernels().sum_of_squares(query, width_));
    const float error = static_cast<float>(width_ + 2) * 0x1p-24F * length * longest_;
    for (Index round = 0; round < rounds_; ++round) {
      const float* rotated = rotated_.data() + round * half_;
      f(round,
        is_close(rotated, half_, error) ? exact_bucket(query, round) : bucket_of(rotated, half_));
    }
  }

 private:
  Index columns() const { return rounds_ * half_; }
  const float* row(Index k) const { return rows_.base + k * rows_.stride; }
  std::int32_t exact_bucket(const float* query, Index round) {
    std::fill(exact_.begin(), exact_.end(), 0.0);
    for (Index k = 0; k < width_; ++k) {
      const float* rotation = row(k) + round * half_;
      const auto q = static_cast<double>(query[k]);
      for (Index c = 0; c < half_; ++c) at(exact_, c) += q * static_cast<double>(rotation[c]);
    }
    return bucket_of(exact_.data(), half_);
  }

  GatheredRows rows_;
  Index width_, rounds_, half_;
  AlignedFloats panels_;
  std::vector<float> rotated_;
  std::vector<double> exact_;
  float longest_ = 0;  ///< largest norm of a rotation
};

/// Sorts positions by bucket into `order`. Positions in the same bucket keep their order.
void sort_round(const std::int32_t* buckets, Index n, Index kinds,
                std::vector<std::int32_t>& order) {
  std::vector<std::int32_t> first(to_size(kinds + 1));
  for (Index j = 0; j < n; ++j) {
    if (buckets[j] >= 0) ++at(first, buckets[j] + 1);
  }
  for (Index b = 0; b < kinds; ++b) at(first, b + 1) += at(first, b);
  const std::size_t begin = order.size();
  order.resize(begin + to_size(first.back()));
  for (Index j = 0; j < n; ++j) {
    if (buckets[j] < 0) continue;
    order[begin + to_size(at(first, buckets[j])++)] = narrow_cast<std::int32_t>(j);
  }
}

/// Puts all positions into one chunk, without padding.
void order_whole(const UnpaddedKeys& keys, LshOrder& order) {
  order.rounds = 1;
  order.chunk = std::max<Index>(keys.count(), 1);
  for (Index n = 0; n < keys.count(); ++n) {
    order.places.push_back(narrow_cast<std::int32_t>(keys.position(n)));
  }
}

}  // namespace

LshOrder lsh_order(const AttentionShape& shape, const AttentionInput& input,
                   const AttentionGroup& group, Index head) {
  check_lsh(input, group);
  const AttentionPattern& pattern = *shape.pattern;
  const UnpaddedKeys keys(group);
  LshOrder order;
  if (keys.count() <= pattern.block_size) {
    order_whole(keys, order);
    return order;
  }
  order.rounds = pattern.rounds;
  order.chunk = pattern.block_size;
  Rotations rotations(input.extras->rotations, head, shape.head_dim, order.rounds,
                      pattern.buckets / 2);
  order.buckets.assign(to_size(order.rounds * group.keys), -1);
  for (Index n = 0; n < keys.count(); ++n) {
    const Index place = keys.position(n);
    const float* query = input.queries.data() +
                         (group.first_query + place) * input.queries.outerStride() +
                         head * shape.head_dim;
    rotations.for_each_bucket(query, [&](Index round, std::int32_t bucket) {
      at(order.buckets, round * group.keys + place) = bucket;
    });
  }
  for (Index round = 0; round < order.rounds; ++round) {
    sort_round(order.buckets.data() + round * group.keys, group.keys, pattern.buckets,
               order.places);
    while (std::ssize(order.places) % order.chunk != 0) order.places.push_back(-1);
  }
  return order;
}

}  // namespace attn
