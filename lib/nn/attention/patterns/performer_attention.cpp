#include "nn/attention/patterns/performer_attention.h"

#include <stdexcept>

#include "base/at.h"
#include "compute/threads.h"
#include "nn/attention/attention_mask.h"
#include "nn/attention/observed_head.h"
#include "nn/attention/patterns/pattern_attention.h"

namespace attn {
namespace {

struct PerformerScratch {
  FeatureTile keys, queries;
  TileRows values;
  TileMemory out, divisors, maxima, state, products;
  PackedRows packed;
};

Eigen::Map<const RowVector> row_of(const float* rows, Index i, Index width) {
  return {rows + i * width, width};
}

/// Computes the features of rows [first, first + n) of a group's queries.
void make_queries(const FeatureMap& map, const HeadRows& rows, Index first, Index n,
                  FeatureTile& queries) {
  queries.load(map, {rows.query + first * rows.query_stride, rows.query_stride, nullptr}, n);
  queries.exponentiate(queries.largest());
  queries.add_epsilon();
}

void divide(float* row, Index width, float divisor) {
  for (Index k = 0; k < width; ++k) row[k] = divisor == 0.0F ? 0.0F : row[k] / divisor;
}

/// Runs a head without a causal mask: every query reads the same sums.
void run_whole_head(const FeatureMap& map, const AttentionGroup& group, const HeadRows& rows) {
  auto& scratch = thread_instance<PerformerScratch>();
  KeySums sums;
  sums.add_up(map, rows, UnpaddedKeys(group));
  for (Index first = 0; first < group.queries; first += kFeatureRows) {
    const Index n = std::min(kFeatureRows, group.queries - first);
    make_queries(map, rows, first, n, scratch.queries);
    float* out = scratch.out.reserve(kFeatureRows * map.width());
    float* divisors = scratch.divisors.reserve(kFeatureRows);
    sums.read(scratch.queries, out, divisors);
    for (Index r = 0; r < n; ++r) {
      divide(out + r * map.width(), map.width(), divisors[r]);
      std::copy_n(out + r * map.width(), map.width(),
                  rows.output + (first + r) * rows.output_stride);
    }
  }
}

/// Computes the output [queries, K] of a tile's queries, given as features, after division. They
/// read the sums of the earlier keys, and the tile's own keys one by one.
void run_causal_tile(const PerformerState& state, const CausalTileMask& tile_mask,
                     const float* values, PerformerScratch& scratch) {
  const Index m = scratch.keys.count(), n = scratch.keys.rows(), queries = scratch.queries.rows();
  const Index width = state.width();
  const float* u = scratch.queries.features();
  float* out = scratch.out.reserve(kCausalRows * width);
  float* divisors = scratch.divisors.reserve(kCausalRows);
  state.read(u, queries, out, divisors);
  float* products = scratch.products.reserve(kCausalRows * kCausalRows);
  multiply({u, queries, m}, {scratch.packed.as_columns(scratch.keys.features(), n, m), n},
           products);
  for (Index i = 0; i < queries; ++i) {
    float* row = products + i * n;
    tile_mask.take(i, n, row);
    const float earlier = tile_mask.of_earlier(i);
    const float epsilon = kFeatureEpsilon * row_of(u, i, m).sum();
    divisors[i] = earlier * divisors[i] + epsilon * state.keys();
    for (Index k = 0; k < width; ++k) {
      out[i * width + k] = earlier * out[i * width + k] + epsilon * state.values()[k];
    }
    for (Index j = 0; j < at(tile_mask.seen, i); ++j) divisors[i] += row[j] += epsilon;
  }
  multiply({products, queries, n}, {scratch.packed.as_rows(values, n, width), width}, out, true);
  for (Index i = 0; i < queries; ++i) divide(out + i * width, width, divisors[i]);
}

/// Runs a head with a causal mask: row i reads the sums of the keys up to its own position.
void run_causal_head(const FeatureMap& map, const AttentionGroup& group, const HeadRows& rows) {
  auto& scratch = thread_instance<PerformerScratch>();
  const Index width = map.width();
  const UnpaddedKeys keys(group);
  PerformerState state(scratch.state.reserve(PerformerState::size(map.count(), width)), map.count(),
                       width);
  state.begin();
  float* maxima = scratch.maxima.reserve(kCausalRows);
  for (const CausalTile& tile : causal_tiles(group, keys)) {
    const Index n = tile.keys();
    scratch.keys.load(map, keys.from(rows.keys, tile.first_key), n);
    make_causal_features(scratch.keys, state.maximum(), maxima);
    const float* values = scratch.values.copy(keys.from(rows.values, tile.first_key), n, width);
    const CausalTileMask tile_mask(tile, group, keys, state.maximum(), maxima);
    make_queries(map, rows, tile.first_query, tile.queries(), scratch.queries);
    run_causal_tile(state, tile_mask, values, scratch);
    for (Index i = 0; i < tile.queries(); ++i) {
      std::copy_n(scratch.out.reserve(0) + i * width, width,
                  rows.output + (tile.first_query + i) * rows.output_stride);
    }
    state.add(tile_mask, n, scratch.keys.features(), values);
  }
}

void run_head(const FeatureMap& map, const AttentionGroup& group, const HeadRows& rows) {
  if (group.mask.causal) {
    run_causal_head(map, group, rows);
  } else {
    run_whole_head(map, group, rows);
  }
}

FeatureMap map_of(const AttentionShape& shape, const AttentionInput& input) {
  if (input.extras == nullptr || input.extras->features.data == nullptr) {
    throw std::logic_error("performer has no features");
  }
  return {input.extras->features, shape.scale};
}

Index work_of(const AttentionShape& shape, const AttentionInput& input, const FeatureMap& map) {
  Index rows = 0;
  for (const AttentionGroup& group : input.groups) rows += group.queries + group.keys;
  return 2 * rows * map.count() * shape.head_dim * shape.heads;
}

/// The features of all rows of a head: queries [L, m] and keys [S, m]. The keys' features use the
/// maximum of the last query, and `maxima` converts them to a query's own maximum.
struct AllFeatures {
  Matrix queries, keys;
  std::vector<float> maxima;  ///< [S] maximum of the keys up to each one

  AllFeatures(const FeatureMap& map, const AttentionGroup& group, const HeadRows& rows)
      : queries(group.queries, map.count()),
        keys(group.keys, map.count()),
        maxima(to_size(group.keys)) {
    FeatureTile tile;
    for (Index first = 0; first < group.queries; first += kFeatureRows) {
      const Index n = std::min(kFeatureRows, group.queries - first);
      make_queries(map, rows, first, n, tile);
      queries.middleRows(first, n) = Eigen::Map<Matrix>(tile.features(), n, map.count());
    }
    float largest = kMinusInfinity;
    std::vector<std::int32_t> row(1);
    for (Index j = 0; j < group.keys; ++j) {
      const bool shown =
          group.mask.key_padding_mask.empty() || at(group.mask.key_padding_mask, j) == 0;
      row[0] = group.key_rows != nullptr ? group.key_rows[j] : narrow_cast<std::int32_t>(j);
      tile.load(map, {rows.keys.base, rows.keys.stride, row.data()}, 1);
      if (shown) largest = std::max(largest, tile.largest()[0]);
      at(maxima, j) = largest;
      tile.exponentiate(std::max(largest, tile.largest()[0]));
      keys.row(j) = Eigen::Map<RowVector>(tile.features(), map.count());
    }
  }
};

/// Returns the weights implied by the features: φ(q_i) · φ(k_j) / Σ over the visible keys.
Matrix implied_weights(const FeatureMap& map, const AttentionGroup& group, const HeadRows& rows,
                       const Matrix& mask) {
  const AllFeatures all(map, group, rows);
  Matrix weights = Matrix::Zero(group.queries, group.keys);
  for (Index i = 0; i < group.queries; ++i) {
    const Index last = visible_keys(group, i) - 1;
    const float epsilon = kFeatureEpsilon * all.queries.row(i).sum();
    float sum = 0;
    for (Index j = 0; j < group.keys; ++j) {
      if (mask(i, j) == kMinusInfinity) continue;
      const float later = rescale_factor(at(all.maxima, j), at(all.maxima, last));
      weights(i, j) = all.queries.row(i).dot(all.keys.row(j)) * later + epsilon;
      sum += weights(i, j);
    }
    if (sum > 0) weights.row(i) /= sum;
  }
  return weights;
}

}  // namespace

void attend_performer(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                      AttentionObserver* observer) {
  const FeatureMap map = map_of(shape, input);
  const auto tasks = std::ssize(input.groups) * shape.heads;
  parallel_for(tasks, work_of(shape, input, map), [&](Index task) {
    const AttentionGroup& group = at(input.groups, task / shape.heads);
    run_head(map, group, head_rows({shape, input, group, task % shape.heads}, output));
  });
  if (observer == nullptr) return;
  for (const AttentionGroup& group : input.groups) {
    for (Index head = 0; head < shape.heads; ++head) {
      const HeadRows rows = head_rows({shape, input, group, head}, output);
      ObservedHead observed(shape, group, rows, mask_matrix(shape, group, head));
      observed.weights = implied_weights(map, group, rows, observed.mask);
      observed.is_estimate = true;
      observed.show(head, *observer);
    }
  }
}

void performer_step(const AttentionShape& shape, const AttentionInput& rows, MatrixRef states,
                    MatrixRef output) {
  const FeatureMap map = map_of(shape, rows);
  const Index m = map.count(), width = map.width(), count = rows.queries.rows();
  parallel_for(count * shape.heads, count * shape.heads * m * width * 4, [&](Index task) {
    const Index row = task / shape.heads, head = task % shape.heads;
    auto& scratch = thread_instance<PerformerScratch>();
    const Index key = row * rows.memory.stride + head * width;
    const float* query = rows.queries.data() + row * rows.queries.outerStride() + head * width;
    float* sums = states.data() + row * states.outerStride();
    PerformerState state(sums + head * PerformerState::size(m, width), m, width);
    float maximum = 0;
    scratch.keys.load(map, {rows.memory.keys + key, 0, nullptr}, 1);
    make_causal_features(scratch.keys, state.maximum(), &maximum);
    state.rescale(maximum);
    state.add(scratch.keys.features(), rows.memory.values + key);
    scratch.queries.load(map, {query, 0, nullptr}, 1);
    scratch.queries.exponentiate(scratch.queries.largest());
    scratch.queries.add_epsilon();
    float* out = output.data() + row * output.outerStride() + head * width;
    divide(out, width, state.read(scratch.queries.features(), out));
  });
}

namespace {

/// Keeps sums over the keys so far instead of keys and values. The size of the sums does not grow
/// with the steps, and each hypothesis has its own copy.
class PerformerKvCache : public KvCache {
 public:
  explicit PerformerKvCache(const KvCacheShape& shape)
      : shape_(shape), sums_(to_size(shape.layers)) {}

  /// Returns the number of floats for one hypothesis in one layer.
  static Index size_of(const KvCacheShape& shape) {
    return shape.heads * PerformerState::size(num_features(shape), shape.head_dim);
  }

  /// Sets row r of every layer's sums to a copy of row parents[r], or to empty sums.
  void begin_step(const KvCacheStep& step) override {
    const auto n = std::ssize(step.parents);
    for (Matrix& sums : sums_) {
      if (next_.rows() < n) next_.resize(n, size_of(shape_));
      for (Index r = 0; r < n; ++r) {
        const Index parent = at(step.parents, r);
        if (parent >= 0) {
          next_.row(r) = sums.row(parent);
        } else {
          begin_row(next_.row(r).data());
        }
      }
      sums.swap(next_);
    }
  }

  void attend(const AttentionShape& shape, AttentionInput rows, MatrixRef heads,
              AttentionObserver* /*observer*/) override {
    performer_step(shape, rows, at(sums_, shape.layer), heads);
  }

 private:
  static Index num_features(const KvCacheShape& shape) {
    return shape.pattern.num_features(to_int(shape.head_dim));
  }
  void begin_row(float* row) const {
    const Index features = num_features(shape_);
    for (Index head = 0; head < shape_.heads; ++head) {
      const Index first = head * PerformerState::size(features, shape_.head_dim);
      PerformerState(row + first, features, shape_.head_dim).begin();
    }
  }

  KvCacheShape shape_;
  std::vector<Matrix> sums_;  ///< [rows, H · size()] per layer; may have more rows than the step
  Matrix next_;               ///< [rows, H · size()] swapped with each layer's sums in each step
};

class PerformerAttention : public PatternAttention {
 public:
  void attend(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
              AttentionObserver* observer) const override {
    attend_performer(shape, input, output, observer);
  }
  void attend_training(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                       SavedForBackward& /*saved*/) const override {
    attend_performer(shape, input, output, nullptr);
  }
  void attend_backward(const AttentionShape& shape, const AttentionInput& input,
                       const SavedForBackward& saved, const ConstMatrixRef& doutput,
                       AttentionInputGradient gradient) const override {
    const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> output(
        saved.output, doutput.rows(), doutput.cols(), Eigen::OuterStride<>(saved.output_stride));
    attend_performer_backward(shape, input, output, doutput, gradient);
  }

  std::unique_ptr<KvCache> make_kv_cache(const KvCacheShape& shape) const override {
    return std::make_unique<PerformerKvCache>(shape);
  }
  std::optional<std::uint64_t> kv_cache_bytes(const KvCacheShape& shape, Index hypotheses,
                                              Index /*steps*/) const override {
    return checked_product({to_size(hypotheses), to_size(PerformerKvCache::size_of(shape)),
                            sizeof(float), to_size(shape.layers) + 1});
  }
};

}  // namespace

const PatternAttention& performer_attention() {
  static const PerformerAttention method;
  return method;
}

}  // namespace attn
