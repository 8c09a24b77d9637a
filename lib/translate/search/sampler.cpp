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
struct Choice {
  int token = 0;
  float score = 0;
  double share = 0;
};

void set_shares(std::vector<Choice>& choices) {
  const float most = std::ranges::max_element(choices, {}, &Choice::score)->score;
  for (Choice& c : choices) {
    c.share = exact_exp(static_cast<double>(c.score) - static_cast<double>(most));
  }
}

double sum_of_shares(const std::vector<Choice>& choices) {
  return std::accumulate(choices.begin(), choices.end(), 0.0,
                         [](double sum, const Choice& c) { return sum + c.share; });
}

/// The likeliest `count`, and those that are as likely as the last of them.
void keep_top_k(std::vector<Choice>& choices, int count) {
  if (count == 0 || to_size(count) >= choices.size()) return;
  std::vector<float> scores;
  for (const Choice& c : choices) scores.push_back(c.score);
  std::ranges::nth_element(scores, scores.begin() + (count - 1), std::greater<>());
  const float least = at(scores, count - 1);
  std::erase_if(choices, [&](const Choice& c) { return c.score < least; });
}

/// From the least likely on, tokens go while those gone have no more than 1 − p of the mass.
void keep_top_p(std::vector<Choice>& choices, float p) {
  if (p >= 1) return;
  std::ranges::stable_sort(choices, {}, &Choice::share);
  const double all = sum_of_shares(choices);
  const double may_go = 1.0 - static_cast<double>(p);
  double gone = 0;
  std::size_t first = 0;
  while (first + 1 < choices.size()) {
    gone += choices[first].share / all;
    if (gone > may_go) break;
    ++first;
  }
  choices.erase(choices.begin(), choices.begin() + to_index(first));
}

void keep_min_p(std::vector<Choice>& choices, float p) {
  const double most = std::ranges::max_element(choices, {}, &Choice::share)->share;
  std::erase_if(choices, [&](const Choice& c) { return c.share < static_cast<double>(p) * most; });
}

/// The tokens whose surprise is nearest to the expected one, until they have `mass`.
void keep_typical(std::vector<Choice>& choices, float mass) {
  if (mass >= 1) return;
  const double all = sum_of_shares(choices);
  struct Distance {
    double distance, probability;
  };
  std::vector<Distance> distances;
  std::vector<double> surprises;
  double expected = 0;
  for (const Choice& c : choices) {
    const double probability = c.share / all;
    surprises.push_back(probability > 0 ? -exact_log(probability)
                                        : std::numeric_limits<double>::infinity());
    if (probability > 0) expected += probability * surprises.back();
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    distances.push_back({std::abs(surprises[i] - expected), choices[i].share / all});
  }
  std::vector<Distance> nearest = distances;
  std::ranges::stable_sort(nearest, {}, &Distance::distance);
  double sum = 0;
  std::size_t last = 0;
  while (last + 1 < nearest.size() &&
         (sum += nearest[last].probability) < static_cast<double>(mass)) {
    ++last;
  }
  std::vector<Choice> kept;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (distances[i].distance <= nearest[last].distance) kept.push_back(choices[i]);
  }
  choices = std::move(kept);
}

}  // namespace

Shares shares_of(std::span<const float> scores, const Sampling& sampling) {
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isinf(scores[i])) continue;
    choices.push_back({to_int(i), scores[i] / sampling.temperature, 0});
  }
  if (choices.empty()) choices.push_back({0, 0, 1});  // all forbidden: as the likeliest would be
  keep_top_k(choices, sampling.top_k);
  set_shares(choices);
  keep_top_p(choices, sampling.top_p);
  keep_min_p(choices, sampling.min_p);
  keep_typical(choices, sampling.typical_p);
  std::ranges::sort(choices, {}, &Choice::token);
  Shares shares;
  for (const Choice& c : choices) {
    shares.tokens.push_back(c.token);
    shares.shares.push_back(c.share);
  }
  return shares;
}

Sampler::Sampler(const Sampling& sampling, std::span<const int> source, std::size_t number)
    : sampling_(sampling),
      random_(sampling.seed, "translation " + std::to_string(number),
              fnv1a(source.data(), source.size_bytes())) {}

int Sampler::draw(std::span<const float> scores) {
  const Shares shares = shares_of(scores, sampling_);
  const double all = std::accumulate(shares.shares.begin(), shares.shares.end(), 0.0);
  double left = random_.uniform() * all;
  for (std::size_t i = 0; i + 1 < shares.tokens.size(); ++i) {
    left -= shares.shares[i];
    if (left < 0) return shares.tokens[i];
  }
  return shares.tokens.back();
}

}  // namespace attn
