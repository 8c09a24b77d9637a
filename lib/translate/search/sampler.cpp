#include "translate/search/sampler.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "base/at.h"
#include "base/numbers/exact_math.h"

namespace attn {
namespace {

/// A token that is left, with its score behind the temperature and its share.
struct WeightedToken {
  int token = 0;
  float score = 0;
  double weight = 0;
};

void set_weights(std::vector<WeightedToken>& candidates) {
  const float most = std::ranges::max_element(candidates, {}, &WeightedToken::score)->score;
  for (WeightedToken& c : candidates) {
    c.weight = exact_exp(static_cast<double>(c.score) - static_cast<double>(most));
  }
}

double sum_of_weights(const std::vector<WeightedToken>& candidates) {
  return std::accumulate(candidates.begin(), candidates.end(), 0.0,
                         [](double sum, const WeightedToken& c) { return sum + c.weight; });
}

/// The likeliest `count`, and those that are as likely as the last of them.
void keep_top_k(std::vector<WeightedToken>& candidates, int count) {
  if (count == 0 || to_size(count) >= candidates.size()) return;
  std::vector<float> scores;
  for (const WeightedToken& c : candidates) scores.push_back(c.score);
  std::ranges::nth_element(scores, scores.begin() + (count - 1), std::greater<>());
  const float least = at(scores, count - 1);
  std::erase_if(candidates, [&](const WeightedToken& c) { return c.score < least; });
}

/// From the least likely on, tokens go while those gone have no more than 1 − p of the mass.
void keep_top_p(std::vector<WeightedToken>& candidates, float p) {
  if (p >= 1) return;
  std::ranges::stable_sort(candidates, {}, &WeightedToken::weight);
  const double all = sum_of_weights(candidates);
  const double may_go = 1.0 - static_cast<double>(p);
  double gone = 0;
  std::size_t first = 0;
  while (first + 1 < candidates.size()) {
    gone += candidates[first].weight / all;
    if (gone > may_go) break;
    ++first;
  }
  candidates.erase(candidates.begin(), candidates.begin() + to_index(first));
}

void keep_min_p(std::vector<WeightedToken>& candidates, float p) {
  const double most = std::ranges::max_element(candidates, {}, &WeightedToken::weight)->weight;
  std::erase_if(candidates, [&](const WeightedToken& c) { return c.weight < static_cast<double>(p) * most; });
}

/// The tokens whose surprise is nearest to the expected one, until they have `mass`.
void keep_typical(std::vector<WeightedToken>& candidates, float mass) {
  if (mass >= 1) return;
  const double all = sum_of_weights(candidates);
  struct Distance {
    double distance, probability;
  };
  std::vector<Distance> distances;
  std::vector<double> surprises;
  double expected = 0;
  for (const WeightedToken& c : candidates) {
    const double probability = c.weight / all;
    surprises.push_back(probability > 0 ? -exact_log(probability)
                                        : std::numeric_limits<double>::infinity());
    if (probability > 0) expected += probability * surprises.back();
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    distances.push_back({std::abs(surprises[i] - expected), candidates[i].weight / all});
  }
  std::vector<Distance> nearest = distances;
  std::ranges::stable_sort(nearest, {}, &Distance::distance);
  double sum = 0;
  std::size_t last = 0;
  while (last + 1 < nearest.size() &&
         (sum += nearest[last].probability) < static_cast<double>(mass)) {
    ++last;
  }
  std::vector<WeightedToken> kept;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (distances[i].distance <= nearest[last].distance) kept.push_back(candidates[i]);
  }
  candidates = std::move(kept);
}

}  // namespace

SamplingDistribution sampling_distribution(std::span<const float> scores, const Sampling& sampling) {
  std::vector<WeightedToken> candidates;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isinf(scores[i])) continue;
    candidates.push_back({to_int(i), scores[i] / sampling.temperature, 0});
  }
  if (candidates.empty()) candidates.push_back({0, 0, 1});  // all forbidden: as the likeliest would be
  keep_top_k(candidates, sampling.top_k);
  set_weights(candidates);
  keep_top_p(candidates, sampling.top_p);
  keep_min_p(candidates, sampling.min_p);
  keep_typical(candidates, sampling.typical_p);
  std::ranges::sort(candidates, {}, &WeightedToken::token);
  SamplingDistribution weights;
  for (const WeightedToken& c : candidates) {
    weights.tokens.push_back(c.token);
    weights.weights.push_back(c.weight);
  }
  return weights;
}

Sampler::Sampler(const Sampling& sampling, std::span<const int> source, std::size_t number)
    : sampling_(sampling),
      random_(sampling.seed, "translation " + std::to_string(number),
              fnv1a(source.data(), source.size_bytes())) {}

int Sampler::sample(std::span<const float> scores) {
  const SamplingDistribution weights = sampling_distribution(scores, sampling_);
  const double all = std::accumulate(weights.weights.begin(), weights.weights.end(), 0.0);
  double left = random_.uniform() * all;
  for (std::size_t i = 0; i + 1 < weights.tokens.size(); ++i) {
    left -= weights.weights[i];
    if (left < 0) return weights.tokens[i];
  }
  return weights.tokens.back();
}

}  // namespace attn
