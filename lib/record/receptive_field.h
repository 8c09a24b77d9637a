// How far a token sees: which tokens of the input the rows of each layer are made from.
//
//   R_0(i) = {i},   R_l(i) = R_{l−1}(i) ∪ ⋃ R_{l−1}(j) over the keys j that query i of layer l sees
#pragma once

#include <span>
#include <vector>

#include "record/attention_maps.h"

namespace attn {

/// What the heads of one layer look at.
struct LayerCells {
  std::vector<const PatternCells*> heads;  ///< those that differ; none: every query sees every key
};

/// How many tokens the rows of a layer are made from.
struct ReceptiveFieldSize {
  int least = 0;
  double mean = 0;
  int most = 0;
  int max_distance = 0;  ///< the largest |i − j|
};

struct ReceptiveField {
  int tokens = 0;
  int side = 0;            ///< of the picture: tokens, or blocks of them
  std::vector<int> first;  ///< [side · side] after how many layers a token of the row's block has
                           ///< seen a token of the column's; 0: after none
  std::vector<ReceptiveFieldSize> after;  ///< a layer each
};

/// Layer by layer; a picture of at most `max_side` blocks. `relays`: the model has global tokens
/// of its own beside the sentence, which hand on everything after two layers.
ReceptiveField receptive_field(std::span<const LayerCells> layers, int tokens, int max_side,
                               bool has_global_tokens);

/// Of recorded maps of a pattern.
ReceptiveField receptive_field(const AttentionMaps& maps);

/// What holds for every sentence where the tokens decide who sees whom (lsh).
struct ReceptiveFieldBounds {
  int least = 0;
  int most = 0;
};

/// Of sentences of `tokens` tokens in `layers` layers of lsh, a layer each: chunks of `chunk`
/// tokens, each of which sees itself and the one before it, in `rounds` rounds.
std::vector<ReceptiveFieldBounds> lsh_receptive_field_bounds(int tokens, int chunk, int rounds,
                                                             int layers);

}  // namespace attn
