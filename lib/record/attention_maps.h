// The weights of every head at one attention site for one sentence, and the cells that a pattern
// left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/at.h"
#include "config/patterns/pattern_cells.h"
#include "record/approximation.h"

namespace attn {

/// With more tokens, maps of a pattern contain only the computed cells.
inline constexpr int max_dense_tokens = 1024;

/// The cells that each head computed.
struct PatternMaps {
  std::vector<PatternCells> patterns;  ///< the distinct patterns
  std::vector<int> of;                 ///< [layers, heads] index of each head's pattern
  /// [layers, heads, queries] weights on keys outside of these maps.
  NonTokenWeights<std::vector<float>> non_token_weights = {};
  /// Queries with projections of their own (LED's global tokens).
  std::vector<Index> global_projection_queries = {};
};

/// Attention weights, indexed like Hugging Face's: [layer][head][query][key].
struct AttentionMaps {
  int layers = 0;
  int heads = 0;
  int queries = 0;
  int keys = 0;  ///< tokens, or mixtures if has_projected_keys()
  /// [layers, heads, queries, keys], row-major; for sparse() maps only the computed cells, in the
  /// order of their runs.
  std::vector<float> weights;
  std::optional<PatternMaps> seen = std::nullopt;  ///< nullopt if every cell is computed or masked
  std::optional<Approximation> approximation = std::nullopt;  ///< for linformer, performer and lsh

  /// True if the keys are linformer's mixtures of all tokens.
  bool has_projected_keys() const {
    return approximation && approximation->type == ApproximationType::linformer;
  }
  /// Returns E (keys) or F (values) of a layer, [queries, keys], for maps with
  /// has_projected_keys().
  std::span<const float> projection(int layer, bool of_values) const {
    const std::size_t size = to_size(queries) * to_size(keys);
    const std::vector<float>& all =
        of_values ? approximation->projected_values : approximation->projected_keys;
    return std::span(all).subspan(to_size(layer) * size, size);
  }
  /// Returns performer's exact weights of one head, [queries, keys]; empty if there are none.
  std::span<const float> exact(int layer, int head) const {
    if (!approximation || approximation->exact.empty()) return {};
    const std::size_t size = to_size(queries) * to_size(keys);
    return std::span(approximation->exact).subspan(to_size(layer * heads + head) * size, size);
  }
  /// Returns one head of lsh, or null for other patterns.
  const RecordedLshHead* hashed(int layer, int head) const {
    if (!approximation || approximation->hashed.empty()) return nullptr;
    return &attn::at(approximation->hashed, layer * heads + head);
  }

  /// True if `weights` contains only the computed cells.
  bool sparse() const { return seen && (queries > max_dense_tokens || keys > max_dense_tokens); }

  /// Returns the weights of one head, [queries, keys], row-major, for maps that are not sparse.
  std::span<const float> map(int layer, int head) const {
    const std::size_t size = to_size(queries) * to_size(keys);
    return {weights.data() + to_size(layer * heads + head) * size, size};
  }
  std::span<float> map(int layer, int head) {
    const std::size_t size = to_size(queries) * to_size(keys);
    return {weights.data() + to_size(layer * heads + head) * size, size};
  }
  float at(int layer, int head, int query, int key) const {
    return map(layer, head)[to_size(query) * to_size(keys) + to_size(key)];
  }

  /// Returns the cells that a head computed, or null if it computed all of them.
  const PatternCells* pattern_cells_of(int layer, int head) const {
    if (!seen) return nullptr;
    return &attn::at(seen->patterns, attn::at(seen->of, layer * heads + head));
  }
  /// Returns the weights of one head's computed cells, for sparse maps.
  std::span<const float> cells(int layer, int head) const;
  /// Returns the whole map of a head. A sparse map is expanded into `scratch`, with 0 for cells
  /// that were not computed.
  std::span<const float> whole(int layer, int head, std::vector<float>& scratch) const;
  /// Returns [queries, keys] with 1 for cells that none of the heads computed: of one head, of a
  /// whole layer (no head given) or of all layers (no layer given). Empty if there is no pattern.
  std::vector<std::uint8_t> uncomputed(std::optional<int> layer, std::optional<int> head) const;
  /// Returns the required size of `weights`.
  std::size_t weight_count() const;
};

// The recall of hashing: does it find the key with the largest score of each query?

struct LshRecall {
  /// [queries] 1 if the query was compared with its best key in some round.
  std::vector<std::uint8_t> found;
  int of = 0;       ///< number of queries that have a best key
  double mass = 0;  ///< mean of RecordedLshHead::mass over the queries

  int found_count() const;
  /// Returns the share of these queries that were compared with their best key; nullopt if no query
  /// has one.
  std::optional<float> share() const;
};

/// Computes the recall of one head of lsh maps.
LshRecall lsh_recall(const AttentionMaps& maps, int layer, int head);

}  // namespace attn
