// Maps that were chosen to be looked at: plain data. analysis/map_selection.h chooses, views draw.
#pragma once

#include <cstdint>
#include <vector>

#include "config/attention_site.h"
#include "config/pattern_cells.h"
#include "record/head_report.h"

namespace attn {

/// What a map shows: the weights that the model went on with, or what stands beside them.
enum class MapPart : std::uint8_t {
  weights,
  exact,             ///< performer: softmax of all scores
  difference,        ///< performer: weights − exact
  projected_keys,    ///< linformer: E, how much of a token is in the key of each mixture
  projected_values,  ///< linformer: F, likewise of the value
};

struct ShownMap {
  HeadName name;                              ///< of one head, or of a mean; E and F: of a layer
  bool best = false;                          ///< the head that aligns best
  std::vector<float> weights;                 ///< [rows · columns], row-major
  std::vector<std::uint8_t> uncomputed = {};  ///< [rows · columns] 1: a pattern leaves the cell
                                              ///< out; empty: there is no pattern
  NonTokenWeights<std::vector<float>> non_token_weights = {};  ///< [rows] as PatternMaps has it
  MapPart part = MapPart::weights;  ///< others follow the maps that they belong to
};

/// The chosen maps of one kind, which share their axes: tokens, or words.
struct ShownMaps {
  AttentionSite site = AttentionSite::cross;
  bool by_words = false;
  std::vector<Word> rows;     ///< by words: of the encoder's source, or those that the steps write
  std::vector<Word> columns;  ///< by words: those that are looked at, or mixtures
  std::vector<ShownMap> maps;
};

}  // namespace attn
