// Tests training against PyTorch: loss, every parameter's gradient, and 20 updates of Adam.
#include <doctest/doctest.h>

#include <cmath>

#include "golden_training.h"
#include "train/optimizer.h"

using namespace attn;
using namespace attn::test;

namespace {

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= largest)) largest = difference;  // true for NaN as well
  }
  return largest;
}

/// Returns the tolerance used for log-probabilities: three times PyTorch's own distance from
/// float64.
double tolerance(const Json& error, double least) {
  return std::max(least, 3 * error.get<double>());
}

}  // namespace

TEST_CASE("loss and gradients are PyTorch's") {
  for (const std::string& name : training_names()) {
    CAPTURE(name);
    TrainingGolden g(name);
    const Json& error = g.golden["error"];
    TrainingPass pass(g.model, Backend::panels);
    const LossSum sum = pass.run(g.batch, g.options());
    const auto tokens = static_cast<double>(sum.tokens);
    CHECK(sum.tokens == g.batch.tokens());
    CHECK(std::abs(sum.loss / tokens - g.golden["loss"].get<double>()) <=
          tolerance(error["loss"], 1e-5));
    CHECK(std::abs(sum.nll / tokens - g.golden["nll"].get<double>()) <=
          tolerance(error["nll"], 1e-5));
    const SafetensorsFile expected(g.directory + "/gradients.safetensors");
    std::size_t seen = 0;
    g.model.visit([&](const TrainableModel::TrainedParameter& trained) {
      const std::string& parameter = trained.info.name;
      CAPTURE(parameter);
      ++seen;
      const double difference = largest_difference(in_file_order(trained.info, trained.gradient),
                                                   read_tensor(expected, parameter));
      CHECK(difference <= tolerance(error["gradients"][parameter], 1e-5));
    });
    CHECK(seen == expected.tensors().size());
  }
}

TEST_CASE("twenty updates of Adam are PyTorch's") {
  for (const std::string& name : training_names()) {
    CAPTURE(name);
    TrainingGolden g(name);
    const Json& expected = g.golden["adam"];
    const AdamConfig config{expected["beta1"].get<float>(), expected["beta2"].get<float>(),
                            expected["epsilon"].get<float>(), expected["clip_norm"].get<float>()};
    TrainingPass pass(g.model, default_backend());
    Adam adam(g.model.weights().size(), config);
    const SafetensorsFile before(g.directory + "/model.safetensors");
    for (const Json& update : expected["updates"]) {
      CAPTURE(adam.step());
      const LossSum sum = pass.run(g.batch, g.options());
      CHECK(std::abs(sum.loss / static_cast<double>(sum.tokens) - update["loss"].get<double>()) <=
            tolerance(expected["error"]["loss"], 1e-4));
      const double norm = Adam::norm(g.model.gradients());
      CHECK(std::abs(norm - update["gradient_norm"].get<double>()) <=
            tolerance(expected["error"]["gradient_norm"], 1e-4));
      CHECK(adam.update(g.model.weights(), g.model.gradients(), norm,
                        update["learning_rate"].get<double>()));
      pass.prepare();
    }
    const SafetensorsFile after(g.directory + "/updated.safetensors");
    g.model.visit([&](const TrainableModel::TrainedParameter& trained) {
      const std::string& parameter = trained.info.name;
      CAPTURE(parameter);
      const std::vector<float> now = in_file_order(trained.info, trained.weight);
      if (g.is_noise(parameter)) {  // a gradient of only rounding errors, which Adam scales up
        CHECK(largest_difference(now, read_tensor(before, parameter)) <=
              expected["noise_bound"].get<double>());
        return;
      }
      CHECK(largest_difference(now, read_tensor(after, parameter)) <=
            tolerance(expected["error"]["parameters"][parameter], 1e-4));
    });
  }
}
