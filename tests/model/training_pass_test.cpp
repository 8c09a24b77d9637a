// Tests properties of every training pass: gradients of parts of a batch add up, no bit depends on
// the threads or on earlier batches, and computing only the loss gives the same loss.
#include "model/training/training_pass.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "base/at.h"
#include "base/error.h"
#include "check_error.h"
#include "small_training.h"

using namespace attn;
using namespace attn::test;

namespace {

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= largest)) largest = difference;
  }
  return std::isnan(largest) ? INFINITY : largest;
}

/// Returns sentences [first, last) of a batch.
TrainingBatch part_of(const TrainingBatch& batch, Index first, Index last, int start) {
  TrainingBatch part;
  for (Index b = first; b < last; ++b) {
    const auto at = to_size(b);
    const auto ids = [&](const std::vector<int>& all, const Offsets& offsets) {
      return std::span(all).subspan(to_size(offsets[at]), to_size(offsets[at + 1] - offsets[at]));
    };
    part.add(ids(batch.source.ids, batch.source.offsets),
             ids(batch.targets, batch.decoder_input.offsets), start);
  }
  return part;
}

PassOptions mean_over(const TrainingBatch& batch, bool dropout, float r_drop = 0) {
  PassOptions options;
  options.r_drop = r_drop;
  options.label_smoothing = 0.1F;
  options.gradient_scale = 1.0F / static_cast<float>(batch.tokens());
  options.dropout = dropout;
  options.seed = 4;
  options.batch = 8;
  return options;
}

const std::initializer_list<ModelConfig (*)()> kConfigs{small_config, small_pre_norm_config,
                                                        small_untied_config};

}  // namespace

TEST_CASE("gradients of two halves of a batch add up to the whole's") {
  for (const auto config : kConfigs) {
    const ModelConfig c = config();
    TrainableModel model(c, 1);
    randomise(model);
    TrainingPass pass(model, Backend::panels);
    // The whole batch has more than 512 rows of logits, which are then computed in parts as well.
    const TrainingBatch whole = random_batch(c, 60, 3, 20, "whole");
    REQUIRE(whole.tokens() > 600);
    const PassOptions options = mean_over(whole, false);
    std::fill(model.gradients().begin(), model.gradients().end(), 0.0F);
    const LossSum together = pass.run(whole, options);
    const std::vector<float> expected = copy_of(model.gradients());

    std::fill(model.gradients().begin(), model.gradients().end(), 0.0F);
    LossSum sum = pass.run(part_of(whole, 0, 23, c.decoder_start_token_id), options);
    const std::vector<float> half = copy_of(model.gradients());
    sum += pass.run(part_of(whole, 23, 60, c.decoder_start_token_id), options);
    CHECK(largest_difference(copy_of(model.gradients()), expected) < 3e-6);
    CHECK(largest_difference(half, expected) > 1e-2);
    CHECK(sum.tokens == together.tokens);
    CHECK(sum.loss == doctest::Approx(together.loss).epsilon(1e-6));
    CHECK(sum.nll == doctest::Approx(together.nll).epsilon(1e-6));
  }
}

TEST_CASE("gradients and loss have the same bits on 1, 2 and 3 threads") {
  for (const auto config : kConfigs) {
    ModelConfig c = config();
    // Large enough for threads to share every layer's work, including the embeddings' columns.
    c.d_model = 75;
    c.encoder_layers = c.decoder_layers = 1;
    TrainableModel model(c, 1);
    randomise(model);
    const TrainingBatch batch = random_batch(c, 60, 8, 30, "batch");
    REQUIRE(batch.tokens() > 1000);
    const auto run = [&](int threads, float r_drop) {
      set_threads(threads);
      TrainingPass pass(model, Backend::panels);
      std::fill(model.gradients().begin(), model.gradients().end(), 0.0F);
      const LossSum sum = pass.run(batch, mean_over(batch, true, r_drop));
      set_threads(1);
      return std::pair{copy_of(model.gradients()), sum};
    };
    for (const float r_drop : {0.0F, 5.0F}) {
      const auto one = run(1, r_drop);
      for (const int threads : {2, 3}) {
        CAPTURE(threads);
        const auto more = run(threads, r_drop);
        CHECK(same_bits(more.first, one.first));
        CHECK(more.second.loss == one.second.loss);
        CHECK(more.second.nll == one.second.nll);
      }
    }
  }
}

TEST_CASE("loss() is the loss of run() without dropout, and leaves the gradients alone") {
  for (const auto config : kConfigs) {
    const ModelConfig c = config();
    TrainableModel model(c, 1);
    randomise(model);
    TrainingPass pass(model, Backend::panels);
    const TrainingBatch batch = random_batch(c, 7, 2, 11, "batch");
    const LossSum run = pass.run(batch, mean_over(batch, false));
    const LossSum with_dropout = pass.run(batch, mean_over(batch, true));
    const std::vector<float> before = copy_of(model.gradients());
    const LossSum alone = pass.loss(batch, 0.1F);
    CHECK(alone.loss == run.loss);
    CHECK(alone.nll == run.nll);
    CHECK(alone.tokens == batch.tokens());
    CHECK(alone.loss != with_dropout.loss);
    CHECK(same_bits(copy_of(model.gradients()), before));
    CHECK(pass.loss(batch, 0.0F).loss == doctest::Approx(run.nll));
  }
}

TEST_CASE("R-Drop without dropout is the plain loss; with it, each kind makes the passes differ") {
  for (const auto config : kConfigs) {
    ModelConfig c = config();
    // The batch has more rows than the output layer processes at a time.
    const TrainingBatch batch = random_batch(c, 60, 3, 20, "batch");
    REQUIRE(batch.tokens() > 600);
    TrainableModel model(c, 1);
    randomise(model);
    TrainingPass pass(model, Backend::panels);
    const auto plain = gradients_of(model, pass, batch, mean_over(batch, false));
    const auto twice = gradients_of(model, pass, batch, mean_over(batch, false, 5));
    CHECK(largest_difference(plain, twice) < 3e-6);
    const LossSum expected = pass.run(batch, mean_over(batch, false));
    const LossSum sum = pass.run(batch, mean_over(batch, false, 5));
    CHECK(sum.tokens == expected.tokens);
    CHECK(sum.loss == doctest::Approx(expected.loss).epsilon(1e-6));
    CHECK(sum.nll == doctest::Approx(expected.nll).epsilon(1e-6));
    c.dropout = c.attention_dropout = c.activation_dropout = 0;
    for (const auto kind : {&ModelConfig::dropout, &ModelConfig::attention_dropout,
                            &ModelConfig::activation_dropout}) {
      ModelConfig one = c;
      one.*kind = 0.3F;
      TrainableModel dropping(one, 1);
      randomise(dropping);
      TrainingPass its(dropping, Backend::panels);
      const double light = its.run(batch, mean_over(batch, true, 1)).loss;
      const double heavy = its.run(batch, mean_over(batch, true, 1000)).loss;
      CHECK(heavy > light + 1);
    }
  }
}

TEST_CASE("batches of other sizes in between leave no trace") {
  for (const auto config : kConfigs) {
    const ModelConfig c = config();
    TrainableModel model(c, 1);
    randomise(model);
    const TrainingBatch large = random_batch(c, 40, 5, 25, "large");
    const TrainingBatch small = random_batch(c, 3, 1, 4, "small");
    TrainingPass pass(model, Backend::panels);
    const auto first = gradients_of(model, pass, large, mean_over(large, true));
    const auto second = gradients_of(model, pass, small, mean_over(small, true));
    const auto third = gradients_of(model, pass, large, mean_over(large, true));
    CHECK(same_bits(first, third));
    TrainingPass fresh(model, Backend::panels);
    CHECK(same_bits(second, gradients_of(model, fresh, small, mean_over(small, true))));
  }
}

TEST_CASE("dropout depends on the seed and on the batch's number") {
  const ModelConfig c = small_config();
  TrainableModel model(c, 1);
  TrainingPass pass(model, Backend::panels);
  const TrainingBatch batch = random_batch(c, 5, 3, 9, "batch");
  PassOptions options = mean_over(batch, true);
  const auto first = gradients_of(model, pass, batch, options);
  CHECK(same_bits(first, gradients_of(model, pass, batch, options)));
  ++options.batch;
  CHECK(!same_bits(first, gradients_of(model, pass, batch, options)));
  --options.batch;
  ++options.seed;
  CHECK(!same_bits(first, gradients_of(model, pass, batch, options)));
}

TEST_CASE("each of the three dropouts acts, and only where the config has it") {
  ModelConfig off = small_config();
  off.dropout = off.attention_dropout = off.activation_dropout = 0;
  const auto loss = [](const ModelConfig& c, bool dropout) {
    TrainableModel model(c, 1);
    randomise(model);
    TrainingPass pass(model, Backend::panels);
    const TrainingBatch batch = random_batch(c, 5, 3, 9, "batch");
    return pass.run(batch, mean_over(batch, dropout)).loss;
  };
  const double without = loss(off, false);
  CHECK(loss(off, true) == without);
  for (const auto member :
       {&ModelConfig::dropout, &ModelConfig::attention_dropout, &ModelConfig::activation_dropout}) {
    ModelConfig c = off;
    c.*member = 0.3F;
    CHECK(loss(c, true) != without);
    CHECK(loss(c, false) == without);
  }
}

TEST_CASE("every place of every layer has its dropout") {
  // With sentences of one token, the gradient of a bias is the gradient of one row: exactly 0 if
  // dropout dropped the number, and nonzero otherwise.
  struct Place {
    float ModelConfig::*probability;
    std::vector<std::string> parameters;  // suffixes of their names
    int count;                            // total in two encoder and two decoder layers
  };
  const Place places[] = {
      {&ModelConfig::dropout, {"out_proj.bias", "fc2.bias", "embed_positions.weight"}, 6 + 4 + 2},
      {&ModelConfig::attention_dropout, {"v_proj.bias"}, 6},
      {&ModelConfig::activation_dropout, {"fc1.bias"}, 4}};
  for (const Place& place : places) {
    ModelConfig c = small_pre_norm_config();
    c.static_positions = false;
    c.dropout = c.attention_dropout = c.activation_dropout = 0;
    c.*place.probability = 0.8F;
    TrainableModel model(c, 1);
    randomise(model);
    TrainingPass pass(model, Backend::panels);
    TrainingBatch batch;
    batch.add(std::vector<int>{0}, std::vector<int>{0}, c.decoder_start_token_id);
    for (const bool dropout : {true, false}) {
      gradients_of(model, pass, batch, mean_over(batch, dropout));
      int seen = 0;
      model.visit([&](const TrainableModel::TrainedParameter& trained) {
        const std::string& name = trained.info.name;
        CAPTURE(name);
        const auto ends = [&](const std::string& end) { return name.ends_with(end); };
        if (std::none_of(place.parameters.begin(), place.parameters.end(), ends)) return;
        ++seen;
        Index zeros = 0;
        for (Index j = 0; j < trained.gradient.columns; ++j) {
          zeros += trained.gradient.at(0, j) == 0.0F;
        }
        CHECK((zeros > 0) == dropout);
      });
      CHECK(seen == place.count);
    }
  }
}

TEST_CASE("bfloat16 products leave the loss and the direction of the gradient") {
  for (const auto config : kConfigs) {
    const ModelConfig c = config();
    TrainableModel model(c, 1);
    randomise(model);
    const TrainingBatch batch = random_batch(c, 9, 2, 15, "batch");
    const auto run = [&](Backend backend) {
      TrainingPass pass(model, backend);
      const LossSum sum = pass.run(batch, mean_over(batch, true));
      const Eigen::VectorXf gradient = Eigen::Map<const Eigen::VectorXf>(
          model.gradients().data(), std::ssize(model.gradients()));
      std::ranges::fill(model.gradients(), 0.0F);
      return std::pair(sum.loss, gradient);
    };
    const auto [loss, gradient] = run(Backend::panels);
    const auto [rounded_loss, rounded_gradient] = run(Backend::bfloat16);
    CHECK(rounded_loss != loss);
    CHECK(rounded_loss == doctest::Approx(loss).epsilon(0.01));
    const float cosine =
        rounded_gradient.dot(gradient) / (rounded_gradient.norm() * gradient.norm());
    CHECK(cosine > 0.999F);
    CHECK(rounded_gradient.norm() == doctest::Approx(gradient.norm()).epsilon(0.02));
  }
}

TEST_CASE("batches and models that do not fit are refused") {
  const ModelConfig c = small_config();
  TrainableModel model(c, 1);
  TrainingPass pass(model, Backend::panels);
  const std::vector<int> good{3, 0};
  const auto run = [&](const std::vector<int>& source, const std::vector<int>& target) {
    TrainingBatch batch;
    batch.add(source, target, c.decoder_start_token_id);
    pass.run(batch, {});
  };
  CHECK_NOTHROW(run(good, good));
  check_error(
      [&] {
        run({37, 0}, good);
      },
      ExitCode::input, "source token id 37 is outside the model's vocabulary of 37");
  check_error(
      [&] {
        run(good, {3, -1, 0});
      },
      ExitCode::input, "target token id -1 is outside the model's vocabulary of 37");
  check_error([&] { run(std::vector<int>(65, 1), good); }, ExitCode::input,
              "source sentence 0 has 65 tokens; the model takes 1 to 64");
}
