#include "nn/attention/kv_cache.h"

#include <cstring>
#include <vector>

#include "base/at.h"
#include "compute/buffer.h"
#include "config/patterns/sparse_pattern.h"
#include "nn/attention/multi_head_attention.h"

namespace attn {
namespace {

Index cached_steps(const AttentionPattern& pattern, Index steps) {
  return sparse_pattern(pattern).cached_steps(pattern, steps);
}

/// Keeps the keys and values of past steps.
class ExactKvCache : public KvCache {
 public:
  explicit ExactKvCache(const KvCacheShape& shape)
      : pattern_(shape.pattern), d_model_(shape.d_model()) {
    for (Index layer = 0; layer < shape.layers; ++layer) layers_.emplace_back(2 * d_model_);
  }

  Index cached_steps(Index steps) const override { return attn::cached_steps(pattern_, steps); }
  Index cache_position(Index step, Index cached) const override {
    return sparse_pattern(pattern_).cache_position(pattern_, step, cached);
  }
  void reserve(Index rows) override {
    for (GrowableMatrix& layer : layers_) layer.reserve(rows);
  }

  void begin_step(const KvCacheStep& step) override { step_ = step; }

  Prefetch prefetch(Index layer) const override {
    const GrowableMatrix& cache = at(layers_, layer);
    return {cache.row(0), step_.rows_read * cache.columns()};
  }

  void attend(const AttentionShape& shape, AttentionInput rows, MatrixRef heads,
              AttentionObserver* observer) override {
    GrowableMatrix& cache = at(layers_, shape.layer);
    for (Index t = 0; t < rows.queries.rows(); ++t) {
      float* row = cache.row(at(step_.cache_rows, t));
      const Index from = t * rows.memory.stride;
      std::memcpy(row, rows.memory.keys + from, to_size(d_model_) * sizeof(float));
      std::memcpy(row + d_model_, rows.memory.values + from, to_size(d_model_) * sizeof(float));
    }
    rows.memory = {cache.row(0), cache.row(0) + d_model_, cache.columns()};
    attn::attend(shape, rows, heads, observer);
  }

 private:
  const AttentionPattern& pattern_;
  Index d_model_;
  KvCacheStep step_;
  std::vector<GrowableMatrix>
      layers_;  ///< [rows, 2D] per layer: each row is a key followed by its value
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
