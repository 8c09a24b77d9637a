// Occlusion: how far a written word's log-probability falls if a source word is missing (Zeiler and
// Fergus 2014). It is a causal check: the model really reads the other sentence. It is not an
// alignment.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "why/nd_array.h"
#include "why/trace.h"

namespace attn {

/// Tokens of the source that are taken away together.
struct OccludedSpan {
  int first = 0;
  int count = 1;
};

struct Occlusion {
  NdArray drop;  ///< [T, N] fall of log p(written[t]) without span n
  NdArray unk;   ///< [T, N] the same with <unk> instead of each of the span's tokens
};

/// Returns one span per source token, except for a last `eos`.
std::vector<OccludedSpan> single_tokens(std::span<const int> source, int eos);

/// Scores the given translation again without each span. A span that is the whole source cannot be
/// dropped, so its fall is 0.
Occlusion occlude(const Transformer& model, const Trace& trace, std::span<const OccludedSpan> spans,
                  int unk);

/// Returns log p of `ids[t]` in row t of `hidden` [T, D], a few rows of logits at a time. Throws
/// InputError naming `model` if one is not finite.
std::vector<float> written_log_probs(const Transformer& model, const ConstMatrixRef& hidden,
                                     std::span<const int> ids);

}  // namespace attn
