// Keys that a head looks at though they are no tokens of the sentence: no column of a map shows
// them, so that the map says itself what they are and what each row gives to them.
#pragma once

#include <array>
#include <string_view>

#include "base/at.h"

namespace attn {

/// One sort of them, as a record's JSON and people call it.
struct NonTokenKeys {
  std::string_view json_key;
  std::string_view name;  ///< within a sentence
  std::string_view name_at_start;
  std::string_view short_name;   ///< in a legend
  std::string_view description;  ///< after a verb, without an article
};

/// Pegasus-X: learned rows before each sentence.
inline constexpr NonTokenKeys model_global_tokens{"own_global", "the model's own global tokens",
                                               "The model's own global tokens", "own global tokens",
                                               "global tokens of the model's own"};

/// All sorts, for readers of records.
inline constexpr std::array all_non_token_keys = {&model_global_tokens};

/// What rows give to such keys, all of them together; a row's other weights sum to the rest of 1.
/// `Weights`: numbers of its own, or a span of someone else's.
template <typename Weights>
struct NonTokenWeights {
  const NonTokenKeys* keys = nullptr;  ///< null: every key has a column
  Weights weights = {};

  bool any() const { return !weights.empty(); }
  /// What one row gives; 0 where there are none.
  float of(Index row) const { return any() ? at(weights, row) : 0.0F; }
};

}  // namespace attn
