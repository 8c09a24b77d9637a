// The data that sparse approximations (linformer, performer, lsh) have besides their weights.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/at.h"
#include "config/patterns/pattern_cells.h"

namespace attn {

enum class ApproximationType : std::uint8_t { linformer, performer, lsh };

/// Returns "linformer", "performer" or "lsh".
constexpr std::string_view approximation_name(ApproximationType kind) {
  constexpr std::array<std::string_view, 3> words = {"linformer", "performer", "lsh"};
  return at(words, kind);
}

/// One head of lsh: its order of the tokens, and how well hashing found the best keys. A query's
/// best key is the one with the largest score other than the query itself, the first if several are
/// equal.
struct RecordedLshHead {
  LshBuckets order;
  std::vector<int> best;  ///< [queries] −1 if there is no other token
  /// [queries] of the softmax over all other keys, the share on those compared with the query.
  std::vector<float> mass;
};

/// The data of an approximation; each member is used by the type that its comment names.
struct Approximation {
  ApproximationType type = ApproximationType::linformer;
  /// linformer: E and F, [layers, queries, keys]: the share of each token in each mixture. The
  /// mixtures are the keys of these maps.
  std::vector<float> projected_keys = {}, projected_values = {};
  /// performer: the softmax of all scores, [layers, heads, queries, keys], which the weights
  /// estimate; empty above max_dense_tokens.
  std::vector<float> exact = {};
  std::vector<RecordedLshHead> hashed = {};  ///< lsh: [layers, heads]
};

}  // namespace attn
