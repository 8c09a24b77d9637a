// What a self-attention meets besides the rows at hand: the keys and values of past steps, sums
// that stand for them, or what global tokens have of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/kernels/kernels.h"
#include "nn/attention/attention.h"

namespace attn {

/// One layer's. Without any, rows look at the rows of their own sentence.
class KvCacheLayer {
 public:
  KvCacheLayer() = default;
  KvCacheLayer(const KvCacheLayer&) = delete;
  KvCacheLayer& operator=(const KvCacheLayer&) = delete;
  virtual ~KvCacheLayer() = default;

  /// What is read next, so that the product that projects the rows may fetch it meanwhile.
  virtual Prefetch prefetch() const { return {}; }
  /// Heads' outputs [T, D] of the rows at hand, whose queries, keys and values `rows` holds.
  virtual void attend(const AttentionShape& shape, AttentionInput rows, MatrixRef heads,
                      AttentionObserver* observer) = 0;
};

/// Whose past a decoder's self-attention keeps from one step to the next.
struct KvCacheShape {
  const AttentionPattern& pattern;
  Index layers = 0;
  Index heads = 0;
  Index head_dim = 0;

  Index d_model() const { return heads * head_dim; }
};

/// The rows of one step.
struct KvCacheStep {
  std::span<const Index> parents;  ///< which row of the step before each continues; −1: it begins
  std::span<const std::int32_t>
      cache_rows;       ///< which row of the memory each one's key and value take
  Index rows_read = 0;  ///< of the memory; others that nobody reads among them
};

/// What all layers keep.
class KvCache {
 public:
  KvCache() = default;
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;
  virtual ~KvCache() = default;

  /// Of `steps` steps those that are there at a time, each with a row of the memory for every
  /// hypothesis; 0 where what is kept has no rows.
  virtual Index cached_steps(Index /*steps*/) const { return 0; }
  /// Where of `kept` such places a step's rows go.
  virtual Index cache_position(Index /*step*/, Index /*kept*/) const { return 0; }
  /// Room for so many rows; what is kept stays.
  virtual void reserve(Index /*rows*/) {}

  virtual void begin(const KvCacheStep& rows) = 0;
  virtual KvCacheLayer& layer_cache(Index layer) = 0;
};

/// Keys and values, which stay where they were written; those that no query of the pattern sees any
/// more give way to others.
std::unique_ptr<KvCache> make_exact_kv_cache(const KvCacheShape& shape);
/// Their bytes for so many hypotheses of so many steps; nothing where those leave 64 bits.
std::optional<std::uint64_t> exact_kv_cache_bytes(const KvCacheShape& shape, Index hypotheses,
                                                  Index steps);

}  // namespace attn
