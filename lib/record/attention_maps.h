// Every head's weights of one kind for one sentence, and what a pattern left out of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/at.h"
#include "config/pattern_cells.h"
#include "record/approximation.h"

namespace attn {

/// Of more tokens, maps of a pattern hold the computed cells alone.
inline constexpr int max_dense_tokens = 1024;

/// What a pattern looked at, head by head.
struct PatternMaps {
  std::vector<PatternCells> patterns;  ///< those that differ
  std::vector<int> of;                 ///< [layers · heads] the number of each head's pattern
  NonTokenWeights<std::vector<float>> non_token_weights =
      {};  ///< [layers · heads · queries] on keys that are
           ///< no columns of these maps
  std::vector<Index> global_projection_queries =
      {};  ///< queries whose query, keys and values are made by
           ///< matrices of their own (LED's global tokens)
};

/// Weights as Hugging Face indexes them: [layer][head][query][key].
struct AttentionMaps {
  int layers = 0;
  int heads = 0;
  int queries = 0;
  int keys = 0;  ///< tokens; of has_projected_keys() maps the mixtures
  /// layers · heads · queries · keys, row-major; of sparse() maps the computed cells alone, in the
  /// order of their runs.
  std::vector<float> weights;
  std::optional<PatternMaps> seen = std::nullopt;  ///< none: every cell is computed, or masked
  std::optional<Approximation> approximation = std::nullopt;  ///< of linformer, performer and lsh

  /// Whether keys are linformer's mixtures of all tokens.
  bool has_projected_keys() const {
    return approximation && approximation->type == ApproximationType::linformer;
  }
  /// E (keys) or F (values) of a layer, [queries · keys]; of has_projected_keys() maps.
  std::span<const float> projection(int layer, bool of_values) const {
    const std::size_t size = to_size(queries) * to_size(keys);
    const std::vector<float>& all =
        of_values ? approximation->projected_values : approximation->projected_keys;
    return std::span(all).subspan(to_size(layer) * size, size);
  }
  /// Performer's exact weights of one head, [queries · keys]; empty where there are none.
  std::span<const float> exact(int layer, int head) const {
    if (!approximation || approximation->exact.empty()) return {};
    const std::size_t size = to_size(queries) * to_size(keys);
    return std::span(approximation->exact).subspan(to_size(layer * heads + head) * size, size);
  }
  /// One head of lsh; null: it is of another kind.
  const RecordedLshHead* hashed(int layer, int head) const {
    if (!approximation || approximation->hashed.empty()) return nullptr;
    return &attn::at(approximation->hashed, layer * heads + head);
  }

  /// Whether `weights` holds the computed cells alone.
  bool sparse() const { return seen && (queries > max_dense_tokens || keys > max_dense_tokens); }

  /// The [queries · keys] weights of one head, row-major; of maps that are not sparse.
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

  /// What a head looked at; null: at all.
  const PatternCells* pattern_cells_of(int layer, int head) const {
    if (!seen) return nullptr;
    return &attn::at(seen->patterns, attn::at(seen->of, layer * heads + head));
  }
  /// Of sparse maps: the weights of one head's computed cells.
  std::span<const float> cells(int layer, int head) const;
  /// map() of any maps; of sparse ones in `scratch`, with 0 where nothing was computed.
  std::span<const float> whole(int layer, int head, std::vector<float>& scratch) const;
  /// [queries · keys] 1 where none of the heads computed the cell: of one head, of all of a layer
  /// (no head) or of all (no layer). Empty where there is no pattern.
  std::vector<std::uint8_t> uncomputed(std::optional<int> layer, std::optional<int> head) const;
  /// How many numbers `weights` has to hold.
  std::size_t weight_count() const;
};

// What hashing found of what it looked for: each query's key with the largest score.

struct LshRecall {
  std::vector<std::uint8_t> found;  ///< [queries] 1: the query met its best key in some round
  int of = 0;                       ///< queries that have one
  double mass = 0;                  ///< mean of the queries' RecordedLshHead::mass

  int found_count() const;
  /// Of the queries, those that met their best key; nothing where none has one.
  std::optional<float> share() const;
};

/// Of one head of maps of lsh.
LshRecall lsh_recall(const AttentionMaps& maps, int layer, int head);

}  // namespace attn
