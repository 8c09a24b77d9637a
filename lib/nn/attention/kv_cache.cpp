#include "nn/attention/kv_cache.h"

#include <cstring>

#include "base/at.h"
#include "compute/buffer.h"
#include "config/patterns/sparse_pattern.h"

namespace attn {
namespace {

Index cached_steps(const AttentionPattern& pattern, Index steps) {
  return sparse_pattern(pattern).cached_steps(pattern, steps);
}

/// One layer's keys and values of past steps: a key and its value a row.
class ExactKvCacheLayer : public KvCacheLayer {
 public:
  ExactKvCacheLayer(Index d_model, const KvCacheStep& step)
      : d_model_(d_model), rows_(2 * d_model), step_(step) {}

  void reserve(Index rows) { rows_.reserve(rows); }

  Prefetch prefetch() const override { return {rows_.row(0), step_.rows_read * rows_.columns()}; }

  void attend(const AttentionShape& shape, AttentionInput rows, MatrixRef heads,
              AttentionObserver* observer) override {
    for (Index t = 0; t < rows.queries.rows(); ++t) {
      float* row = rows_.row(at(step_.cache_rows, t));
      const Index from = t * rows.memory.stride;
      std::memcpy(row, rows.memory.keys + from, to_size(d_model_) * sizeof(float));
      std::memcpy(row + d_model_, rows.memory.values + from, to_size(d_model_) * sizeof(float));
    }
    rows.memory = {rows_.row(0), rows_.row(0) + d_model_, rows_.columns()};
    attn::attend(shape, rows, heads, observer);
  }

 private:
  Index d_model_;
  GrowableMatrix rows_;      ///< [rows, 2D]
  const KvCacheStep& step_;  ///< the step at hand
};

class ExactKvCache : public KvCache {
 public:
  explicit ExactKvCache(const KvCacheShape& shape) : pattern_(shape.pattern) {
    for (Index layer = 0; layer < shape.layers; ++layer) {
      layers_.push_back(std::make_unique<ExactKvCacheLayer>(shape.d_model(), step_));
    }
  }

  Index cached_steps(Index steps) const override { return attn::cached_steps(pattern_, steps); }
  Index cache_position(Index step, Index kept) const override {
    return sparse_pattern(pattern_).cache_position(pattern_, step, kept);
  }
  void reserve(Index rows) override {
    for (const std::unique_ptr<ExactKvCacheLayer>& layer : layers_) layer->reserve(rows);
  }
  void begin(const KvCacheStep& rows) override { step_ = rows; }
  KvCacheLayer& layer_cache(Index layer) override { return *at(layers_, layer); }

 private:
  const AttentionPattern& pattern_;
  KvCacheStep step_;
  std::vector<std::unique_ptr<ExactKvCacheLayer>> layers_;
};

}  // namespace

std::unique_ptr<KvCache> make_exact_kv_cache(const KvCacheShape& shape) {
  return std::make_unique<ExactKvCache>(shape);
}

std::optional<std::uint64_t> exact_kv_cache_bytes(const KvCacheShape& shape, Index hypotheses,
                                                  Index steps) {
  return checked_product({to_size(hypotheses), to_size(cached_steps(shape.pattern, steps)),
                          2 * to_size(shape.d_model()), sizeof(float), to_size(shape.layers)});
}

}  // namespace attn
