// The changes that `generate` makes to a step's scores before it chooses: biases, penalties,
// forbidden tokens, the forced beginning and end, and renormalization, in transformers' order. The
// input is rows of logits, the output rows of scores.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "config/decode_config.h"
#include "model/transformer.h"

namespace attn {

/// The log-sum-exp of a row, split so that log-softmax(x) = (x − maximum) − log_sum.
struct LogSoftmax {
  float maximum = 0;
  float log_sum = 0;
  bool finite = true;  ///< true if no number of the row is NaN or infinite
  float operator()(float logit) const { return (logit - maximum) - log_sum; }
};
LogSoftmax log_softmax(std::span<const float> row);

/// Throws InputError that names the model, because its logits are NaN or infinite and no token is
/// likeliest. `step` counts from 0.
[[noreturn]] void throw_non_finite_logits(std::string_view model, Index step);

/// The context that a row of logits continues.
struct LogitsContext {
  std::span<const int> produced;  ///< tokens so far, without the start symbol
  std::span<const int> source;    ///< the whole source, end symbol included
  int start = 0;                  ///< the decoder's start symbol, part of the context in `generate`

  std::size_t size() const { return produced.size() + 1; }
  int operator[](std::size_t i) const { return i == 0 ? start : produced[i - 1]; }
};

class LogitsProcessor {
 public:
  /// Throws InputError if an id is outside the vocabulary, or a forced token is suppressed.
  LogitsProcessor(const DecodeConfig& decode, const std::vector<int>& ends, int vocab_size);

  /// Turns a row of logits into scores: biases and penalties are added, and forbidden tokens get
  /// −∞. Returns the function that makes log-probabilities from them: normalized by the original
  /// row, or by the new one if the config renormalizes. `finite` tells if the model's row was
  /// finite. With several beams, biases and penalties change log-probabilities; with one beam,
  /// logits, as in `generate`.
  LogSoftmax process(const LogitsContext& context, std::span<float> row) const;

  /// True if scores are changed other than by forbidding tokens, so that the likeliest token may
  /// be another.
  bool changes_scores() const { return repetition_penalty_ != 1 || !biases_.empty(); }

  /// Returns the only token allowed when `produced` tokens of `most` exist: the forced end at the
  /// last position, the forced beginning at the first.
  std::optional<int> forced_token(Index produced, Index most) const;

 private:
  void add_biases(const LogitsContext& context, std::span<float> row) const;
  void penalize_repetitions(const LogitsContext& context, std::span<float> row) const;
  void forbid(const LogitsContext& context, float value, std::span<float> row) const;

  std::vector<std::vector<int>> bad_words_;
  std::vector<SequenceBias> biases_;
  std::vector<int> ends_, suppressed_, suppressed_first_;
  float repetition_penalty_ = 1;
  std::size_t no_repeat_ = 0,
              no_repeat_source_ = 0;  ///< sizes of n-grams; 0: no limit on repetition
  std::size_t min_tokens_ = 0;        ///< minimum number of tokens before an end
  std::optional<int> forced_bos_;
  std::optional<int> forced_eos_;
  bool renormalise_ = false;
  bool several_beams_ = false;
};

// Sampling: choosing the next token at random.

/// The tokens that may be sampled after transformers' warpers, with their shares in the order of
/// their ids: e^(score / temperature), scaled so that the largest is 1.
struct SamplingDistribution {
  std::vector<int> tokens;
  std::vector<double> weights;
};

/// Applies the temperature, then top_k, top_p, min_p and typical_p (Meister et al. 2023), each to
/// the tokens that the previous one left. At least one token remains. Tokens with a score of −∞
/// are never included.
SamplingDistribution sampling_distribution(std::span<const float> scores, const Sampling& sampling);

/// The random numbers of one translation. They depend only on the seed, the source and the
/// translation's number, and their arithmetic has the same bits everywhere (base/random.h): a
/// sentence gives the same translations alone and in a batch.
class Sampler {
 public:
  Sampler(const Sampling& sampling, std::span<const int> source, std::size_t number);

  int sample(std::span<const float> scores);

 private:
  Sampling sampling_;
  RandomGenerator random_;
};

}  // namespace attn
