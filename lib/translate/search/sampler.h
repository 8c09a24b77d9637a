// Drawing the next token at random: what else the model might say.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "config/decode_config.h"

namespace attn {

/// Tokens that may be drawn, as transformers' warpers leave them, with their shares in the order of
/// their ids: e^(score / temperature), the greatest being 1.
struct SamplingDistribution {
  std::vector<int> tokens;
  std::vector<double> weights;
};

/// temperature, then top_k, top_p, min_p and typical_p (Meister et al. 2023), each over what the
/// one before it left; at least one token is left. Scores of −∞ never come.
SamplingDistribution sampling_distribution(std::span<const float> scores, const Sampling& sampling);

/// The draws of one translation. They follow from the seed, the source and the translation's number
/// alone, in arithmetic that has the same bits everywhere (base/numbers/exact_math.h): a sentence
/// gives the same translations alone and in a batch.
class Sampler {
 public:
  Sampler(const Sampling& sampling, std::span<const int> source, std::size_t number);

  int sample(std::span<const float> scores);

 private:
  Sampling sampling_;
  RandomGenerator random_;
};

}  // namespace attn
