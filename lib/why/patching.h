// Activation patching: which activations carry the difference between two sources? One activation
// of the run on the corrupted source is replaced by the one of the run on the clean source, and the
// share of the logit difference that comes back is measured (Vig et al. 2020, Meng et al. 2022).
#pragma once

#include <utility>
#include <vector>

#include "compute/tensor.h"
#include "model/transformer.h"

namespace attn {

/// A position of the clean source and the one of the corrupted source that takes its place.
struct AlignedPositions {
  Index clean = 0;
  Index corrupt = 0;
};

/// Two sources and the same decoder input for both.
struct PatchingRequest {
  std::vector<int> clean;          ///< [S] ids, </s> included
  std::vector<int> corrupt;        ///< [S'] ids, </s> included
  std::vector<int> decoder_input;  ///< ids: the start token and the target; those after `step` are
                                   ///< not read
  Index step = 0;                  ///< the step whose logits are compared
  int word = 0;                    ///< the clean word
  int foil = 0;                    ///< the corrupted word
  /// The positions of the encoder's grid. Empty: every position with itself, which takes sources
  /// of the same length.
  std::vector<AlignedPositions> alignment = {};
};

/// Recovered shares (D_patched − D_corrupt) / (D_clean − D_corrupt) with D = logit(word) −
/// logit(foil) at the step: 0 as in the corrupted run, 1 as in the clean one. P aligned positions,
/// L layers, H heads of the decoder.
struct PatchingGrids {
  std::vector<AlignedPositions> positions;  ///< [P]
  double clean_logit_diff = 0;              ///< D_clean
  double corrupt_logit_diff = 0;            ///< D_corrupt
  Matrix encoder;  ///< [L_e + 1, P] the residual stream after l encoder layers, at a position; row
                   ///< 0 is the embedding, and the final norm comes later
  Matrix decoder;  ///< [L_d + 1, step + 1] the same after l decoder layers, at a position
  Matrix cross;    ///< [L_d, H] a cross-attention head's output at all positions, before the output
                   ///< projection
};

/// Computes all three grids. Throws InputError if the sources have different lengths and no
/// alignment is given, for positions, steps and words that do not exist, if word and foil are the
/// same, and if both runs have the same logit difference; MemoryError if the sentence needs too
/// much memory.
PatchingGrids patch_activations(const Transformer& model, const PatchingRequest& request);

}  // namespace attn
