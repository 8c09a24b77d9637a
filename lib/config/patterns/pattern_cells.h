// The keys that each query sees under a sparse pattern, and why; the buckets of LSH attention; and
// keys that are not tokens of the sentence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/at.h"

namespace attn {

/// The reason why a query looks at a key under a pattern.
enum class PatternReason : std::uint8_t {
  full,    ///< full attention
  window,  ///< the key is near
  global,  ///< one of the two is a global token, which sees all and is seen by all
  random,  ///< chosen at random
  stride,  ///< a multiple of the stride away, or the summary of another block
  block    ///< the same block
};

/// Returns "full", "window", "global", "random", "stride" or "block".
constexpr std::string_view reason_name(PatternReason reason) {
  constexpr std::array<std::string_view, 6> words = {"full",   "window", "global",
                                                     "random", "stride", "block"};
  return at(words, reason);
}

// The cells of an attention map that a pattern computes, and why.

/// Adjacent keys [first, end) that a query looks at for the same reason.
struct CellRun {
  std::int32_t first = 0;
  std::int32_t end = 0;
  PatternReason reason = PatternReason::full;
  float bias = 0.0F;  ///< added to the scores: ln c for keys that count c times

  bool operator==(const CellRun&) const = default;
};

/// The keys that each query of one head looks at: the runs of every row, in ascending order and
/// without overlap.
struct PatternCells {
  std::vector<std::size_t> rows = {0};  ///< the runs of row r: [rows[r], rows[r + 1])
  std::vector<CellRun> runs = {};

  bool operator==(const PatternCells&) const = default;

  std::span<const CellRun> row(int query) const {
    const std::size_t first = at(rows, query);
    return std::span(runs).subspan(first, at(rows, query + 1) - first);
  }
  /// Ends a row after its runs have been added.
  void end_row() { rows.push_back(runs.size()); }

  /// Returns the number of cells.
  std::size_t count() const {
    std::size_t cells = 0;
    for (const CellRun& run : runs) cells += to_size(run.end - run.first);
    return cells;
  }
};

// The buckets and chunks that LSH attention assigns to the tokens of a sentence, in one head.

struct LshBuckets {
  std::int32_t chunk = 0;  ///< tokens of a chunk; a round's last one may have fewer
  /// [rounds][tokens] the bucket of each token. Empty if one chunk holds the sentence, so that
  /// nothing was hashed.
  std::vector<std::vector<std::int32_t>> buckets = {};
  /// [rounds][tokens] the tokens sorted by bucket, in the order that chunks divide; padding is
  /// left out.
  std::vector<std::vector<std::int32_t>> order = {};

  bool operator==(const LshBuckets&) const = default;
};

// Keys that a head looks at although they are not tokens of the sentence. They have no column in a
// map, so the map itself says what they are and which weight each row gives to them.

/// One kind of such keys, with its names in JSON and in text.
struct NonTokenKeys {
  std::string_view json_key;
  std::string_view name;  ///< within a sentence
  std::string_view name_at_start;
  std::string_view short_name;   ///< in a legend
  std::string_view description;  ///< after a verb, without an article
};

/// Pegasus-X: learned rows before each sentence.
inline constexpr NonTokenKeys model_global_tokens{
    "own_global", "the model's own global tokens", "The model's own global tokens",
    "own global tokens", "global tokens of the model's own"};

/// All kinds, for readers of records.
inline constexpr std::array all_non_token_keys = {&model_global_tokens};

/// The weights that rows give to all such keys together; a row's other weights sum to the rest of
/// 1. `Weights` is a vector, or a span of numbers stored elsewhere.
template <typename Weights>
struct NonTokenWeights {
  const NonTokenKeys* keys = nullptr;  ///< null: every key has a column
  Weights weights = {};

  bool any() const { return !weights.empty(); }
  /// Returns the weight that a row gives to these keys; 0 if there are none.
  float of(Index row) const { return any() ? at(weights, row) : 0.0F; }
};

}  // namespace attn
