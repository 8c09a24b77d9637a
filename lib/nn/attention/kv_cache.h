// The KV cache: what a decoder's self-attention keeps from one step to the next. Exact attention
// keeps keys and values (kv_cache.cpp); performer keeps sums over them
// (patterns/performer_attention.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "compute/kernels/kernels.h"
#include "nn/attention/attention.h"

namespace attn {

/// The size and pattern of the self-attention that a cache serves.
struct KvCacheShape {
  const AttentionPattern& pattern;
  Index layers = 0;
  Index heads = 0;
  Index head_dim = 0;

  Index d_model() const { return heads * head_dim; }
};

/// The rows of one decoding step.
struct KvCacheStep {
  std::span<const Index> parents;  ///< row of the previous step that each row continues; −1: none
  std::span<const std::int32_t> cache_rows;  ///< cache row that each row's key and value go to
  Index rows_read = 0;                       ///< cache rows in use, with unused rows among them
};

/// The cache of all layers. Each step calls begin_step() once and then attend() for every layer.
class KvCache {
 public:
  KvCache() = default;
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;
  virtual ~KvCache() = default;

  /// Returns how many of `steps` steps are cached at once. Each takes one cache row per hypothesis.
  /// 0: the cache has no rows.
  virtual Index cached_steps(Index /*steps*/) const { return 0; }
  /// Returns which of `cached` positions a step's rows take.
  virtual Index cache_position(Index /*step*/, Index /*cached*/) const { return 0; }
  /// Makes room for this many rows and keeps the present ones.
  virtual void reserve(Index /*rows*/) {}

  virtual void begin_step(const KvCacheStep& step) = 0;
  /// Returns the memory that attend() reads next in this layer. The matrix multiplication that
  /// projects the rows can prefetch it.
  virtual Prefetch prefetch(Index /*layer*/) const { return {}; }
  /// Adds the keys and values of the present rows to the cache of layer shape.layer, and writes the
  /// rows' attention output to `heads` [T, D].
  virtual void attend(const AttentionShape& shape, AttentionInput rows, MatrixRef heads,
                      AttentionObserver* observer) = 0;
};

/// Makes a cache of keys and values, which stay in the row where they were written. Rows that no
/// later query of the pattern can see are reused.
std::unique_ptr<KvCache> make_exact_kv_cache(const KvCacheShape& shape);
/// Returns the cache's bytes for this many hypotheses and steps, or nothing on 64-bit overflow.
std::optional<std::uint64_t> exact_kv_cache_bytes(const KvCacheShape& shape, Index hypotheses,
                                                  Index steps);

}  // namespace attn
