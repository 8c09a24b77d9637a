// What the kinds of attention that go by way of something smaller (linformer, performer, lsh) have
// beside their weights.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/at.h"
#include "config/pattern_cells.h"

namespace attn {

enum class ApproximationType : std::uint8_t { linformer, performer, lsh };

/// "linformer", "performer" or "lsh".
constexpr std::string_view approximation_name(ApproximationType kind) {
  constexpr std::array<std::string_view, 3> words = {"linformer", "performer", "lsh"};
  return at(words, kind);
}

/// One head of lsh: its order, and what hashing found. A query's best key is the one with the
/// largest score, itself left out; the first of equal ones.
struct RecordedLshHead {
  LshBuckets order;
  std::vector<int> best;    ///< [queries] −1 where there is no other token
  std::vector<float> mass;  ///< [queries] of softmax over all other keys, what lies on those it met
};

/// A member counts for the kind that its comment names.
struct Approximation {
  ApproximationType type = ApproximationType::linformer;
  /// linformer: E and F, [layers · queries · keys]: how much of a token is in each mixture, which
  /// are the keys of these maps.
  std::vector<float> projected_keys = {}, projected_values = {};
  /// performer: softmax of all scores, [layers · heads · queries · keys], which the weights
  /// estimate; empty above max_dense_tokens.
  std::vector<float> exact = {};
  std::vector<RecordedLshHead> hashed = {};  ///< lsh: [layers · heads]
};

}  // namespace attn
