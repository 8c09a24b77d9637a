// Receptive fields: the input tokens from which the rows of each layer are computed.
//
//   R_0(i) = {i},   R_l(i) = R_{l−1}(i) ∪ ⋃ R_{l−1}(j) over the keys j that query i of layer l sees
#pragma once

#include <span>
#include <vector>

#include "record/attention_maps.h"

namespace attn {

/// The cells that the heads of one layer compute.
struct LayerCells {
  std::vector<const PatternCells*>
      heads;  ///< the distinct ones; empty if every query sees every key
};

/// The number of tokens from which the rows of a layer are computed.
struct ReceptiveFieldSize {
  int least = 0;
  double mean = 0;
  int most = 0;
  int max_distance = 0;  ///< the largest |i − j|
};

struct ReceptiveField {
  int tokens = 0;
  int side = 0;            ///< side of the picture: tokens, or blocks of them
  std::vector<int> first;  ///< [side, side] the number of layers after which a token of the row's
                           ///< block has seen a token of the column's block; 0 for never
  std::vector<ReceptiveFieldSize> after;  ///< one entry per layer
};

/// Computes the field layer by layer for a picture of at most `max_side` blocks.
/// `has_global_tokens` means that the model has separate global tokens besides the sentence, which
/// pass everything on after two layers.
ReceptiveField receptive_field(std::span<const LayerCells> layers, int tokens, int max_side,
                               bool has_global_tokens);

/// Computes the field of recorded maps of a pattern.
ReceptiveField receptive_field(const AttentionMaps& maps);

/// Bounds that hold for every sentence if the tokens themselves decide who sees whom (lsh).
struct ReceptiveFieldBounds {
  int least = 0;
  int most = 0;
};

/// Returns the bounds after each of `layers` layers of lsh for sentences of `tokens` tokens, with
/// chunks of `chunk` tokens, each of which sees itself and the previous one, in `rounds` rounds.
std::vector<ReceptiveFieldBounds> lsh_receptive_field_bounds(int tokens, int chunk, int rounds,
                                                             int layers);

}  // namespace attn
