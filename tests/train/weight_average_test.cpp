#include "train/optimizer.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace attn::test {
namespace {

constexpr std::size_t kSize = 9001;  // not a multiple of a block or of a vector

/// Returns the weights after update t.
std::vector<float> weights_at(std::uint64_t t) {
  std::vector<float> weights(kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    weights[i] = std::sin(static_cast<float>(i) * 0.37F + static_cast<float>(t) * 1.3F);
  }
  return weights;
}

TrainConfig config_of(WeightAveraging kind, double decay, std::uint64_t last) {
  TrainConfig config;
  config.average = kind;
  config.average_decay = decay;
  config.average_last = last;
  return config;
}

std::shared_ptr<AlignedFloats> shared(const std::vector<float>& values) {
  auto floats = std::make_shared<AlignedFloats>(values.size());
  std::copy(values.begin(), values.end(), floats->data());
  return floats;
}

void check_near(const AlignedFloats& found, const std::vector<double>& expected, double most) {
  double worst = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    const double difference = std::abs(static_cast<double>(found.data()[i]) - expected[i]);
    worst = std::isnan(difference) ? difference : std::max(worst, difference);
  }
  CHECK(worst <= most);
}

std::vector<double> mean_of_updates(const std::vector<std::uint64_t>& updates) {
  std::vector<double> mean(kSize);
  for (const std::uint64_t t : updates) {
    const std::vector<float> weights = weights_at(t);
    for (std::size_t i = 0; i < kSize; ++i) {
      mean[i] += static_cast<double>(weights[i]) / static_cast<double>(updates.size());
    }
  }
  return mean;
}

}  // namespace

TEST_CASE("without averaging the weights themselves are the best") {
  WeightAverage average(config_of(WeightAveraging::none, 0.9, 5), weights_at(0));
  const auto weights = shared(weights_at(1));
  average.after_update(weights_at(1), 1);
  average.after_checkpoint(weights_at(1));
  CHECK(average.evaluation_weights(weights) == weights);
  CHECK(average.arrays().empty());
}

TEST_CASE("the exponential average is that of double arithmetic") {
  WeightAverage average(config_of(WeightAveraging::exponential, 0.8, 5), weights_at(0));
  const std::vector<float> start = weights_at(0);
  std::vector<double> expected(start.begin(), start.end());
  for (std::uint64_t t = 1; t <= 60; ++t) {
    const std::vector<float> weights = weights_at(t);
    average.after_update(weights, t);
    const double decay =
        std::min(0.8, (1.0 + static_cast<double>(t)) / (10.0 + static_cast<double>(t)));
    for (std::size_t i = 0; i < kSize; ++i) {
      expected[i] = decay * expected[i] + (1.0 - decay) * static_cast<double>(weights[i]);
    }
    if (t == 1 || t == 35 || t == 36 || t == 60) {
      check_near(*average.evaluation_weights(shared(weights)), expected, 1e-6);
    }
  }
}

TEST_CASE("the average of checkpoints is the mean of the last ones") {
  WeightAverage average(config_of(WeightAveraging::checkpoints, 0.9, 3), weights_at(0));
  const auto now = shared(weights_at(99));
  CHECK(average.evaluation_weights(now) == now);  // no average yet
  const std::vector<std::vector<std::uint64_t>> expected = {
      {10}, {10, 20}, {10, 20, 30}, {20, 30, 40}, {30, 40, 50}};
  for (std::uint64_t n = 1; n <= expected.size(); ++n) {
    average.after_update(weights_at(n * 10), n * 10);
    average.after_checkpoint(weights_at(n * 10));
    CHECK(average.snapshots() == n);
    check_near(*average.evaluation_weights(now), mean_of_updates(expected[n - 1]), 1e-6);
  }
}

TEST_CASE("an average restored from its arrays goes on to the same bits") {
  for (const WeightAveraging kind : {WeightAveraging::exponential, WeightAveraging::checkpoints}) {
    const TrainConfig config = config_of(kind, 0.9, 2);
    WeightAverage whole(config, weights_at(0));
    const auto step = [](WeightAverage& average, std::uint64_t t) {
      average.after_update(weights_at(t), t);
      average.after_checkpoint(weights_at(t));
    };
    for (std::uint64_t t = 1; t <= 3; ++t) {
      step(whole, t);
      whole.evaluation_weights(
          shared(weights_at(t)));  // a validation's request must not change the average
    }
    WeightAverage resumed(config, weights_at(7));
    std::vector<CheckpointArray> from = whole.arrays();
    std::vector<CheckpointArray> to = resumed.arrays();
    REQUIRE(from.size() == to.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      CHECK(from[i].name == to[i].name);
      REQUIRE(from[i].values.size() == to[i].values.size());
      std::copy(from[i].values.begin(), from[i].values.end(), to[i].values.begin());
    }
    resumed.set_snapshots(whole.snapshots());
    for (std::uint64_t t = 4; t <= 6; ++t) {
      step(whole, t);
      step(resumed, t);
      const auto a = whole.evaluation_weights(shared(weights_at(t)));
      const auto b = resumed.evaluation_weights(shared(weights_at(t)));
      CHECK(std::equal(a->data(), a->data() + kSize, b->data()));
    }
  }
}

}  // namespace attn::test
