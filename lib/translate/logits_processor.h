// What `generate` does to a step's scores before it chooses: forbidden sequences, the forced end,
// renormalisation. Rows of logits in, rows of scores out.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "config/decode_config.h"
#include "model/transformer.h"

namespace attn {

/// log Σ exp of a row, split so that log-softmax(x) = (x − maximum) − log_sum.
struct RowNormaliser {
  float maximum = 0;
  float log_sum = 0;
  float operator()(float logit) const { return (logit - maximum) - log_sum; }
};
RowNormaliser normaliser(std::span<const float> row);

class LogitsProcessor {
 public:
  LogitsProcessor(const DecodeConfig& decode, int eos_token_id, int vocab_size);

  /// Sets forbidden continuations of `produced` (without the start symbol) to −∞ in a row of logits
  /// or log-probabilities. `start` is the decoder's start symbol, part of the context in
  /// `generate`.
  void forbid(std::span<const int> produced, int start, std::span<float> row) const;

  /// The only token allowed when `produced` tokens of `most` exist: the forced end at the last.
  std::optional<int> forced(Index produced, Index most) const;

  bool renormalises() const { return renormalise_; }

 private:
  std::vector<std::vector<int>> bad_words_;
  std::optional<int> forced_eos_;
  bool renormalise_ = false;
};

}  // namespace attn
