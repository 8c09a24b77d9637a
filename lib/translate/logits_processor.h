// What `generate` does to a step's scores before it chooses: forbidden sequences, the forced end,
// renormalisation. Rows of logits in, rows of scores out.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/decode_config.h"
#include "model/transformer.h"

namespace attn {

/// log Σ exp of a row, split so that log-softmax(x) = (x − maximum) − log_sum.
struct RowNormaliser {
  float maximum = 0;
  float log_sum = 0;
  bool finite = true;  ///< no number of the row is NaN or infinite
  float operator()(float logit) const { return (logit - maximum) - log_sum; }
};
RowNormaliser normaliser(std::span<const float> row);

/// InputError that names the model: its logits are NaN or infinite, so that no token is likeliest.
/// `step` counts from 0.
[[noreturn]] void refuse_logits(std::string_view model, Index step);

class LogitsProcessor {
 public:
  LogitsProcessor(const DecodeConfig& decode, const std::vector<int>& ends, int vocab_size);

  /// Sets forbidden continuations of `produced` (without the start symbol) to −∞ in a row of
  /// logits, and returns what makes log-probabilities of it: the row's as it was, or as it is now
  /// where the config renormalises. `finite` is about the row as the model made it. `start` is the
  /// decoder's start symbol, part of the context in `generate`.
  RowNormaliser process(std::span<const int> produced, int start, std::span<float> row) const;

  /// The only token allowed when `produced` tokens of `most` exist: the forced end at the last, the
  /// forced beginning at the first.
  std::optional<int> forced(Index produced, Index most) const;

 private:
  void forbid(std::span<const int> produced, int start, float value, std::span<float> row) const;

  std::vector<std::vector<int>> bad_words_;
  std::optional<int> forced_bos_;
  std::optional<int> forced_eos_;
  bool renormalise_ = false;
};

}  // namespace attn
