// Maps selected for display: plain data. analysis/map_selection.h selects them, and views draw
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "config/attention_site.h"
#include "config/patterns/pattern_cells.h"
#include "record/head_report.h"

namespace attn {

/// The content of a map: the model's weights, or values related to them.
enum class MapPart : std::uint8_t {
  weights,
  exact,             ///< performer: softmax of all scores
  difference,        ///< performer: weights − exact
  projected_keys,    ///< linformer: E, the share of each token in the key of each mixture
  projected_values,  ///< linformer: F, the share of each token in the value of each mixture
};

/// The measure that a map shows instead of weights (docs/why.md).
enum class MapMeasure : std::uint8_t {
  value,  ///< the lengths of what a head adds for each key
  alti,   ///< ALTI: the keys' shares of the block's output
};

/// "value", "alti": as the command line calls them.
constexpr std::string_view measure_key(MapMeasure measure) {
  return measure == MapMeasure::value ? "value" : "alti";
}

struct ShownMap {
  HeadName name;               ///< a head or a mean of heads; a layer for E and F
  bool best = false;           ///< the head that aligns best
  std::vector<float> weights;  ///< [rows, columns], row-major
  /// [rows, columns] 1 if a pattern leaves the cell out; empty without a pattern.
  std::vector<std::uint8_t> uncomputed = {};
  NonTokenWeights<std::vector<float>> non_token_weights = {};  ///< [rows] same as in PatternMaps
  MapPart part = MapPart::weights;         ///< maps of other parts follow the map they belong to
  std::optional<MapMeasure> measure = {};  ///< nullopt: weights, or values related to them
};

/// The selected maps of one attention site, which share their axes: tokens or words.
struct ShownMaps {
  AttentionSite site = AttentionSite::cross;
  bool by_words = false;
  /// If by_words: the source's words, or those that the steps write.
  std::vector<Word> rows;
  std::vector<Word> columns;  ///< by words: those that are looked at, or mixtures
  std::vector<ShownMap> maps;
};

}  // namespace attn
