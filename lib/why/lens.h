// The logit lens (nostalgebraist 2020) and DecoderLens (Langedijk et al. 2023): what the model
// would say if it stopped after an earlier layer.
#pragma once

#include <string>
#include <vector>

#include "config/decode_config.h"
#include "record/attention_record.h"
#include "why/nd_array.h"
#include "why/trace.h"

namespace attn {

/// Each decoder state before the output table, through the final norm if there is one. State 0 is
/// the embedding, state l the output of layer l.
struct LogitLens {
  std::vector<Alternatives> states;  ///< [L+1] the five likeliest tokens of each step, and the rank
                                     ///< of the written one; token texts are left to the caller
};

LogitLens logit_lens(const Transformer& model, const Trace& trace);

/// The decoder reads the encoder's state after fewer layers. Quality does not always grow with the
/// number of layers.
struct DecoderLens {
  std::vector<std::vector<int>> ids;  ///< [L_e+1] greedy translations, without the start token
  NdArray log_probs;                  ///< [L_e+1, T] of the written tokens
};

/// Translates greedily from each encoder state, with the other settings of `decode`.
DecoderLens decoder_lens(const Transformer& model, const Trace& trace, const DecodeConfig& decode);

}  // namespace attn
