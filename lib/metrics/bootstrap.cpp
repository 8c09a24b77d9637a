#include "metrics/bootstrap.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace attn {
namespace {

/// Scores as in a numpy array: 32-bit if every score is.
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

/// Sums like numpy: eight partial sums in blocks of up to 128, and blocks in pairs.
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
  const std::size_t lower = scores.size() / 40;  // 2.5% at either end
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

/// Sums the counts of the drawn sentences one by one as 32-bit floats.
std::vector<double> sampled_sums(const SentenceStatistics& counts,
                                 std::span<const std::size_t> drawn) {
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

namespace {

/// A hash with a constant that changes from call to call (O'Neill's seed_seq_fe).
class Hash {
 public:
  Hash(std::uint32_t constant, std::uint32_t multiplier)
      : constant_(constant), multiplier_(multiplier) {}
  std::uint32_t operator()(std::uint32_t value) {
    value ^= constant_;
    constant_ *= multiplier_;
    value *= constant_;
    return value ^ (value >> 16);
  }

 private:
  std::uint32_t constant_, multiplier_;
};

std::uint32_t mixed(std::uint32_t x, std::uint32_t y) {
  const std::uint32_t result = 0xCA01F9DDU * x - 0x4973F715U * y;
  return result ^ (result >> 16);
}

/// Returns SeedSequence(seed).generate_state(4, uint64).
std::array<std::uint64_t, 4> seed_state(std::uint64_t seed) {
  std::array<std::uint32_t, 4> pool = {static_cast<std::uint32_t>(seed),
                                       static_cast<std::uint32_t>(seed >> 32), 0, 0};
  Hash in(0x43B0D7E5U, 0x931E8875U);
  for (std::uint32_t& word : pool) word = in(word);
  for (std::size_t from = 0; from < pool.size(); ++from) {
    for (std::size_t to = 0; to < pool.size(); ++to) {
      if (from != to) pool[to] = mixed(pool[to], in(pool[from]));
    }
  }
  Hash out(0x8B51F9DDU, 0x58F38DEDU);
  std::array<std::uint64_t, 4> state{};
  for (std::size_t i = 0; i < 8; ++i) {
    state[i / 2] |= static_cast<std::uint64_t>(out(pool[i % 4])) << (32 * (i % 2));
  }
  return state;
}

}  // namespace

Pcg64::Pcg64(std::uint64_t seed) {
  const std::array<std::uint64_t, 4> words = seed_state(seed);
  const auto wide = [](std::uint64_t high, std::uint64_t low) {
    return static_cast<Wide>(high) << 64 | low;
  };
  increment_ = wide(words[2], words[3]) << 1 | 1;
  advance();
  state_ += wide(words[0], words[1]);
  advance();
}

void Pcg64::advance() {
  constexpr Wide kMultiplier = static_cast<Wide>(0x2360ED051FC65DA4U) << 64 | 0x4385DF649FCCF645U;
  state_ = state_ * kMultiplier + increment_;
}

std::uint64_t Pcg64::next64() {
  advance();
  const auto folded = static_cast<std::uint64_t>(state_ >> 64) ^ static_cast<std::uint64_t>(state_);
  return std::rotr(folded, static_cast<int>(state_ >> 122));
}

std::uint32_t Pcg64::next32() {
  if (has_upper_half_) {
    has_upper_half_ = false;
    return upper_half_;
  }
  const std::uint64_t both = next64();
  upper_half_ = static_cast<std::uint32_t>(both >> 32);
  has_upper_half_ = true;
  return static_cast<std::uint32_t>(both);
}

std::uint32_t Pcg64::below(std::uint32_t n) {
  if (n == 1) return 0;  // numpy draws no number if there is only one choice
  const std::uint32_t uneven = (0U - n) % n;
  for (;;) {
    const std::uint64_t product = static_cast<std::uint64_t>(next32()) * n;
    if (static_cast<std::uint32_t>(product) >= uneven)
      return static_cast<std::uint32_t>(product >> 32);
  }
}

}  // namespace attn
