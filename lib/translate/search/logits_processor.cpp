#include "translate/search/logits_processor.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "base/at.h"
#include "base/error.h"
#include "base/random.h"

namespace attn {
namespace {

void require_id(const char* key, int id, int vocab_size) {
  if (id < vocab_size) return;
  throw InputError("{}: id {} is outside the vocabulary of {}", key, id, vocab_size);
}

/// True if the context ends in `ids` without their last `left_out` elements.
bool ends_in(const LogitsContext& context, std::span<const int> ids, std::size_t left_out) {
  const std::size_t length = ids.size() - left_out;
  if (length > context.size()) return false;
  for (std::size_t i = 0; i < length; ++i) {
    if (context[context.size() - length + i] != ids[i]) return false;
  }
  return true;
}

/// Calls `found` with the last token of each of a text's n-grams whose first n − 1 end the context.
void each_repeated(const LogitsContext& context, const auto& text, std::size_t n,
                   const auto& found) {
  if (n == 0 || context.size() + 1 < n) return;
  const std::size_t first = context.size() + 1 - n;
  for (std::size_t begin = 0; begin + n <= text.size(); ++begin) {
    std::size_t same = 0;
    while (same + 1 < n && text[begin + same] == context[first + same]) ++same;
    if (same + 1 == n) found(text[begin + n - 1]);
  }
}

/// Groups biases by the length of their prefix, the order in which `generate` adds them.
std::vector<SequenceBias> in_groups(const std::vector<SequenceBias>& biases) {
  std::vector<SequenceBias> grouped;
  std::vector<std::size_t> lengths = {1};
  for (const SequenceBias& bias : biases) {
    if (std::ranges::find(lengths, bias.ids.size()) == lengths.end()) {
      lengths.push_back(bias.ids.size());
    }
  }
  for (const std::size_t length : lengths) {
    std::ranges::copy_if(biases, std::back_inserter(grouped),
                         [&](const SequenceBias& bias) { return bias.ids.size() == length; });
  }
  return grouped;
}

std::vector<int> inside(const std::vector<int>& ids, int vocab_size) {
  std::vector<int> known;
  std::ranges::copy_if(ids, std::back_inserter(known), [&](int id) { return id < vocab_size; });
  return known;
}

}  // namespace

LogSoftmax log_softmax(std::span<const float> row) {
  LogSoftmax n;
  const auto size = std::ssize(row);
  n.finite = kernels().log_sum_exp(row.data(), size, &n.maximum, &n.log_sum);
  return n;
}

void throw_non_finite_logits(std::string_view model, Index step) {
  throw InputError(
      "{}: the logits of token {} are not finite; the weights are too large for 32-bit floats",
      model, step + 1);
}

LogitsProcessor::LogitsProcessor(const DecodeConfig& decode, const std::vector<int>& ends,
                                 int vocab_size)
    : biases_(in_groups(decode.sequence_bias)),
      ends_(ends),
      suppressed_(inside(decode.suppress_tokens, vocab_size)),
      suppressed_first_(inside(decode.begin_suppress_tokens, vocab_size)),
      repetition_penalty_(decode.repetition_penalty),
      no_repeat_(to_size(decode.no_repeat_ngram_size)),
      no_repeat_source_(to_size(decode.encoder_no_repeat_ngram_size)),
      min_tokens_(to_size(decode.min_new_tokens)),
      forced_bos_(decode.forced_bos_token_id),
      forced_eos_(decode.forced_eos_token_id),
      renormalise_(decode.renormalize_logits),
      several_beams_(decode.num_beams > 1) {
  for (const std::vector<int>& word : decode.bad_words_ids) {
    // An end token stays allowed, as in `generate`.
    if (word.size() == 1 && std::ranges::find(ends, word.front()) != ends.end()) continue;
    for (const int id : word) require_id("bad_words_ids", id, vocab_size);
    bad_words_.push_back(word);
  }
  for (const SequenceBias& bias : biases_) {
    for (const int id : bias.ids) require_id("sequence_bias", id, vocab_size);
  }
  for (const auto& [key, id] :
       {std::pair{"forced_bos_token_id", forced_bos_}, {"forced_eos_token_id", forced_eos_}}) {
    if (!id) continue;
    if (*id >= vocab_size) {
      throw InputError("{} {} is outside the vocabulary of {}", key, *id, vocab_size);
    }
    if (std::ranges::find(suppressed_, *id) != suppressed_.end()) {
      throw InputError("{} {} is one of suppress_tokens; no token would be left to choose", key,
                       *id);
    }
  }
}

LogSoftmax LogitsProcessor::process(const LogitsContext& context, std::span<float> row) const {
  constexpr float kForbidden = -std::numeric_limits<float>::infinity();
  const bool changed = changes_scores();
  bool finite = true;
  LogSoftmax normal;
  if (!renormalise_ || changed) {
    normal = log_softmax(row);
    finite = normal.finite;
  }
  if (changed) {
    if (several_beams_) {
      for (float& x : row) x = normal(x);
      normal = {0, 0, finite};
    }
    add_biases(context, row);
    penalize_repetitions(context, row);
  }
  if (renormalise_) {
    // The lowest float rather than −∞: it also adds 0 to the sum, and the check for infinite
    // logits then still finds only those that the model produced.
    forbid(context, std::numeric_limits<float>::lowest(), row);
    normal = log_softmax(row);
    normal.finite = normal.finite && finite;
  }
  forbid(context, kForbidden, row);
  return normal;
}

void LogitsProcessor::add_biases(const LogitsContext& context, std::span<float> row) const {
  // A token's biases are summed before they are added to its score, as in `generate`.
  std::vector<std::pair<int, float>> sums;
  for (const SequenceBias& bias : biases_) {
    if (!ends_in(context, bias.ids, 1)) continue;
    const int token = bias.ids.back();
    const auto found = std::ranges::find(sums, token, &std::pair<int, float>::first);
    if (found == sums.end()) {
      sums.emplace_back(token, bias.bias);
    } else {
      found->second += bias.bias;
    }
  }
  for (const auto& [token, bias] : sums) at(row, token) += bias;
}

void LogitsProcessor::penalize_repetitions(const LogitsContext& context,
                                           std::span<float> row) const {
  if (repetition_penalty_ == 1) return;
  for (std::size_t i = 0; i < context.size(); ++i) {
    const int token = context[i];
    bool before = false;  // each token once, however often it occurs
    for (std::size_t j = 0; j < i && !before; ++j) before = context[j] == token;
    if (before) continue;
    float& score = at(row, token);
    score = score < 0 ? score * repetition_penalty_ : score / repetition_penalty_;
  }
}

void LogitsProcessor::forbid(const LogitsContext& context, float value,
                             std::span<float> row) const {
  const auto forbid_one = [&](int token) { at(row, token) = value; };
  const auto forbid_all = [&](const std::vector<int>& tokens) {
    for (const int token : tokens) forbid_one(token);
  };
  each_repeated(context, context, no_repeat_, forbid_one);
  each_repeated(context, context.source, no_repeat_source_, [&](int token) {
    if (to_size(token) < row.size()) forbid_one(token);  // the source may have more tokens
  });
  for (const std::vector<int>& word : bad_words_) {
    if (ends_in(context, word, 1)) forbid_one(word.back());
  }
  if (context.produced.size() < min_tokens_) forbid_all(ends_);
  forbid_all(suppressed_);
  if (context.produced.size() == (forced_bos_ ? 1U : 0U)) forbid_all(suppressed_first_);
}

std::optional<int> LogitsProcessor::forced_token(Index produced, Index most) const {
  if (produced == most - 1 && forced_eos_) return forced_eos_;
  return produced == 0 ? forced_bos_ : std::nullopt;
}

namespace {

/// A remaining token, with its score after the temperature and its probability.
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

/// Keeps the `count` likeliest tokens, and those that are as likely as the last of them.
void keep_top_k(std::vector<WeightedToken>& candidates, int count) {
  if (count == 0 || to_size(count) >= candidates.size()) return;
  std::vector<float> scores;
  for (const WeightedToken& c : candidates) scores.push_back(c.score);
  std::ranges::nth_element(scores, scores.begin() + (count - 1), std::greater<>());
  const float least = at(scores, count - 1);
  std::erase_if(candidates, [&](const WeightedToken& c) { return c.score < least; });
}

/// Removes the least likely tokens while the removed ones have at most 1 − p of the probability
/// mass.
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
  std::erase_if(candidates,
                [&](const WeightedToken& c) { return c.weight < static_cast<double>(p) * most; });
}

/// Keeps the tokens whose surprisal is nearest to the expected one, until they have `mass`.
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

SamplingDistribution sampling_distribution(std::span<const float> scores,
                                           const Sampling& sampling) {
  std::vector<WeightedToken> candidates;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isinf(scores[i])) continue;
    candidates.push_back({to_int(i), scores[i] / sampling.temperature, 0});
  }
  if (candidates.empty())
    candidates.push_back({0, 0, 1});  // all tokens forbidden: takes token 0, as an argmax would
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
