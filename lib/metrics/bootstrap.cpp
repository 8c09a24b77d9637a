#include "metrics/bootstrap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "metrics/pcg64.h"

namespace attn {
namespace {

/// Scores as a numpy array holds them: in 32 bits where every one of them is.
struct ScoreArray {
  std::vector<double> values;
  bool is_float32 = true;

  void add(const SampleScore& sample) {
    values.push_back(sample.score);
    is_float32 = is_float32 && sample.is_float32;
  }
  template <typename Number>
  std::vector<Number> as() const {
    std::vector<Number> numbers;
    for (const double value : values) numbers.push_back(static_cast<Number>(value));
    return numbers;
  }
};

/// numpy's sum: eight sums side by side in blocks of up to 128, blocks in pairs.
template <typename Number>
Number pairwise_sum(std::span<const Number> x) {
  if (x.size() < 8) return std::accumulate(x.begin(), x.end(), Number{0});
  if (x.size() > 128) {
    std::size_t half = x.size() / 2;
    half -= half % 8;
    return pairwise_sum(x.first(half)) + pairwise_sum(x.subspan(half));
  }
  std::array<Number, 8> r;
  std::copy_n(x.begin(), 8, r.begin());
  std::size_t at = 8;
  for (; at + 8 <= x.size(); at += 8) {
    for (std::size_t i = 0; i < 8; ++i) r[i] += x[at + i];
  }
  const Number sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  return std::accumulate(x.begin() + static_cast<std::ptrdiff_t>(at), x.end(), sum);
}

template <typename Number>
Number mean_of(const std::vector<Number>& x) {
  return pairwise_sum(std::span<const Number>(x)) / static_cast<Number>(x.size());
}

template <typename Number>
ConfidenceInterval interval_of(std::vector<Number> scores) {
  std::sort(scores.begin(), scores.end());
  const std::size_t lower = scores.size() / 40;  // 2.5% on either side
  const std::size_t upper = scores.size() - lower - 1;
  return {static_cast<double>(mean_of(scores)),
          static_cast<double>(Number{0.5} * (scores[upper] - scores[lower]))};
}

ConfidenceInterval interval_of(const ScoreArray& scores) {
  return scores.is_float32 ? interval_of(scores.as<float>()) : interval_of(scores.values);
}

template <typename Number>
double p_value_of(const std::vector<Number>& system, const std::vector<Number>& baseline,
                  double difference) {
  std::vector<Number> distances;
  for (std::size_t i = 0; i < system.size(); ++i) {
    distances.push_back(std::abs(system[i] - baseline[i]));
  }
  const Number mean = mean_of(distances);
  const auto farther = std::ranges::count_if(
      distances, [&](Number d) { return d - mean > static_cast<Number>(difference); });
  return static_cast<double>(farther + 1) / static_cast<double>(distances.size() + 1);
}

double p_value_of(const ScoreArray& system, const ScoreArray& baseline, double difference) {
  return system.is_float32 && baseline.is_float32
             ? p_value_of(system.as<float>(), baseline.as<float>(), difference)
             : p_value_of(system.values, baseline.values, difference);
}

/// The sums of the sentences drawn, added one by one as 32-bit floats.
std::vector<double> sampled_sums(const SentenceStatistics& counts, std::span<const std::size_t> drawn) {
  std::vector<float> sums(counts.columns, 0.0F);
  for (const std::size_t sentence : drawn) {
    const std::span<const double> row = counts.of(sentence);
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += static_cast<float>(row[c]);
  }
  return {sums.begin(), sums.end()};
}

std::size_t sentences_of(std::span<const PairedMetric> metrics) {
  const std::size_t sentences = metrics.empty() ? 0 : metrics.front().system.sentences();
  const bool same = std::ranges::all_of(metrics, [&](const PairedMetric& m) {
    return m.baseline.sentences() == sentences && m.system.sentences() == sentences;
  });
  if (!same || sentences == 0 || sentences > std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument(
        "a paired bootstrap needs the same sentences of both systems, at least one");
  }
  return sentences;
}

}  // namespace

std::vector<PairedResult> paired_bootstrap(std::span<const PairedMetric> metrics,
                                           const Resampling& resampling) {
  const std::size_t sentences = sentences_of(metrics);
  if (resampling.samples == 0) throw std::invalid_argument("a bootstrap needs a sample");
  Pcg64 random(resampling.seed);
  std::vector<ScoreArray> baselines(metrics.size()), systems(metrics.size());
  std::vector<std::size_t> drawn(sentences);
  for (std::size_t sample = 0; sample < resampling.samples; ++sample) {
    for (std::size_t& sentence : drawn) {
      sentence = random.below(static_cast<std::uint32_t>(sentences));
    }
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      baselines[m].add(metrics[m].score(sampled_sums(metrics[m].baseline, drawn)));
      systems[m].add(metrics[m].score(sampled_sums(metrics[m].system, drawn)));
    }
  }
  std::vector<PairedResult> results;
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    const double difference = std::abs(metrics[m].baseline_score - metrics[m].system_score);
    results.push_back({interval_of(baselines[m]), interval_of(systems[m]),
                       p_value_of(systems[m], baselines[m], difference)});
  }
  return results;
}

}  // namespace attn
