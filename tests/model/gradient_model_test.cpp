// Tests the whole model's gradients against finite differences of its loss, with all three kinds
// of dropout on. For one seed and batch number the masks are fixed, so the loss is a function of
// the weights.
#include <doctest/doctest.h>

#include <cmath>

#include "base/at.h"
#include "small_training.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Sentences fill all positions but one, so a random position is almost surely in use.
ModelConfig with_ten_positions(ModelConfig config) {
  config.max_positions = 10;
  return config;
}

/// A model with all kinds of dropout on, a batch, and its gradient.
struct Subject {
  TrainableModel model;
  TrainingBatch batch;
  TrainingPass pass;
  PassOptions options;
  std::vector<float> gradient;

  explicit Subject(const ModelConfig& config, float r_drop = 0)
      : model(with_ten_positions(config), 3),
        batch(random_batch(config, 4, 2, 9, "batch")),
        pass(model, Backend::panels) {
    randomise(model);
    if (config.activation == Activation::relu) leave_kinks();
    pass.prepare();
    options.label_smoothing = 0.1F;
    options.seed = 17;
    options.batch = 29;
    options.r_drop = r_drop;
    gradient = gradients_of(model, pass, batch, options);
  }

  std::span<float> weights() { return model.weights(); }

  /// Finite differences across relu's kink are meaningless, so half of its units are always on and
  /// half always off.
  void leave_kinks() {
    model.visit([](const TrainableModel::TrainedParameter& trained) {
      if (trained.info.name.find("fc1.bias") == std::string::npos) return;
      for (Index j = 0; j < trained.weight.columns; ++j) {
        trained.weight.element(0, j) = j % 2 == 0 ? 6.0F : -6.0F;
      }
    });
  }

  double loss() {
    pass.prepare();
    return pass.run(batch, options).loss;
  }

  /// Returns the slope of step → loss(weights + step · direction) at 0, from four points around
  /// it.
  template <typename Move>
  double slope(double h, const Move& move) {
    const std::vector<float> before = copy_of(model.weights());
    const auto at = [&](double step) {
      move(step);
      const double value = loss();
      std::copy(before.begin(), before.end(), model.weights().begin());
      return value;
    };
    return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
  }

  /// Checks that a weight's slope and its gradient differ by no more than the rounding of the
  /// loss, a sum of floats.
  void check_parameter(float& weight, float expected) {
    const float before = weight;
    const double found =
        slope(0.02, [&](double step) { weight = static_cast<float>(before + step); });
    CHECK(found == doctest::Approx(expected).epsilon(1e-3).scale(1));
  }
};

/// Checks a random number of each tensor, and more than `least` in the whole model.
void check_parameters(const ModelConfig& config, float r_drop = 0, int least = 60) {
  Subject s(config, r_drop);
  int checked = 0;
  s.model.visit([&](const TrainableModel::TrainedParameter& trained) {
    CAPTURE(trained.info.name);
    float u = 0;
    fill_uniform(1, trained.info.name, 1.0F, &u, 1);
    const Index size = trained.weight.size();
    const auto i = std::min(size - 1, static_cast<Index>((u + 1) / 2 * static_cast<float>(size)));
    CAPTURE(i);
    float& weight = trained.weight.data[i];
    s.check_parameter(weight, at(s.gradient, &weight - s.weights().data()));
    ++checked;
  });
  CHECK(checked > least);
}

/// Checks all parameters in one number: along its gradient, the loss rises by the gradient's norm.
void check_direction(const ModelConfig& config, float r_drop = 0) {
  Subject s(config, r_drop);
  double squares = 0;
  for (const float g : s.gradient) squares += static_cast<double>(g) * static_cast<double>(g);
  const double norm = std::sqrt(squares);
  REQUIRE(norm > 1);
  const std::span<float> weights = s.weights();
  const double found = s.slope(0.005, [&](double step) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] += static_cast<float>(step * static_cast<double>(s.gradient[i]) / norm);
    }
  });
  CHECK(found == doctest::Approx(norm).epsilon(1e-3));
}

}  // namespace

TEST_CASE("gradients of single parameters, post-norm with relu") {
  check_parameters(small_config());
}

TEST_CASE("gradients of single parameters, pre-norm with gelu") {
  check_parameters(small_pre_norm_config());
}

TEST_CASE("gradients of single parameters, untied with swish and learned positions") {
  check_parameters(small_untied_config());
}

TEST_CASE("gradients of the published families") {
  for (const std::string model_type : {"bart", "led", "bigbird_pegasus", "pegasus_x"}) {
    CAPTURE(model_type);
    check_parameters(small_family_config(model_type));
    check_direction(small_family_config(model_type));
  }
}

TEST_CASE("gradients where padding is a class, of families of several languages among them") {
  for (const std::string model_type : {"bart", "mbart", "m2m_100"}) {
    CAPTURE(model_type);
    check_parameters(small_several_config(model_type));
    check_direction(small_several_config(model_type));
  }
  ModelConfig untied = small_several_config("m2m_100");
  untied.tie_word_embeddings = untied.share_embeddings = false;
  check_direction(untied);
}

TEST_CASE(
    "padding that is a class has a gradient by the output alone, and the logits have biases") {
  ModelConfig config = small_several_config("mbart");
  config.tie_word_embeddings = config.share_embeddings = false;
  Subject s(config);
  const ModelParameters& g = s.model.gradient_parameters();
  CHECK(g.output.at(config.pad_token_id, 0) != 0.0F);
  CHECK(g.decoder.embedding.at(config.pad_token_id, 0) == 0.0F);
  s.options.label_smoothing = 0;
  const double before = s.loss();
  const Parameter bias = s.model.parameters().logits_bias;
  bias.element(0, config.pad_token_id) = -20.0F;  // no longer a class
  CHECK(s.loss() < before - 0.1);
  bias.element(0, config.pad_token_id) = 20.0F;
  CHECK(s.loss() > before + 10);
}

TEST_CASE("gradients of T5's families") {
  for (const std::string model_type : {"t5", "mt5", "umt5"}) {
    CAPTURE(model_type);
    check_parameters(small_t5_config(model_type), 0, 45);  // no biases
    check_direction(small_t5_config(model_type));
  }
}

TEST_CASE("gradients of each part of the program's own, and of all") {
  for (const NamedConfig& own : small_own_configs()) {
    CAPTURE(own.name);
    check_parameters(own.config, 0, 45);
    check_direction(own.config);
  }
}

TEST_CASE("gradients of relative, turned and shared keys where attention follows patterns") {
  for (const bool rotary : {false, true}) {
    CAPTURE(rotary);
    check_direction(small_own_config([&](ModelConfig& c) {
      (rotary ? choose_rotary : choose_relative)(c);
      c.key_value_heads = 2;
      c.encoder_attention.type = PatternType::longformer;
      c.encoder_attention.windows = {2};
      c.encoder_attention.globals = {0, 4};
      c.decoder_attention.type = PatternType::window;
      c.decoder_attention.windows = {4, 2};
    }));
  }
}

TEST_CASE("along its gradient the loss rises by the gradient's norm") {
  check_direction(small_config());
  check_direction(small_pre_norm_config());
  check_direction(small_untied_config());
}

TEST_CASE("gradients under R-Drop, whose passes drop different things") {
  check_parameters(small_pre_norm_config(), 3);
  check_direction(small_config(), 3);
  check_direction(small_untied_config(), 3);
}

TEST_CASE("gradients where attention follows patterns") {
  for (ModelConfig c : {small_config(), small_pre_norm_config()}) {
    c.encoder_attention.type = PatternType::longformer;
    c.encoder_attention.windows = {2};
    c.encoder_attention.globals = {0, 4};
    c.decoder_attention.type = PatternType::window;
    c.decoder_attention.windows = {4, 2};
    check_parameters(c);
    c.encoder_attention.type = PatternType::chunks;
    c.encoder_attention.block_size = 4;
    c.encoder_attention.shift = true;
    c.decoder_attention.type = PatternType::sparse_strided;
    c.decoder_attention.stride = 2;
    check_direction(c);
    c.encoder_attention.type =
        PatternType::bigbird;  // sentences of 8 blocks, so some blocks are not chosen
    c.encoder_attention.block_size = 1;
    c.encoder_attention.random_blocks = 1;
    c.decoder_attention.type = PatternType::sparse_fixed;
    c.decoder_attention.stride = 3;
    c.decoder_attention.summary = 1;
    check_direction(c);
  }
}

TEST_CASE("gradients of linformer, performer and lsh") {
  for (ModelConfig c : {small_config(), small_pre_norm_config()}) {
    c.encoder_attention.type = PatternType::linformer;
    c.encoder_attention.rank = 4;
    check_parameters(c);
    check_direction(c);
    // Sentences have one chunk: with several, the differences would change the buckets.
    c.encoder_attention.type = PatternType::lsh;
    c.encoder_attention.block_size = 10;
    c.encoder_attention.rounds = 2;
    c.encoder_attention.buckets = 4;
    check_direction(c);
    c.encoder_attention.type = PatternType::performer;
    c.encoder_attention.features = 12;
    c.decoder_attention = c.encoder_attention;
    check_direction(c);
  }
}

TEST_CASE("padding's row and what no token touched get no gradient") {
  Subject s(small_untied_config());
  const ModelConfig& c = s.model.config();
  const ModelParameters& g = s.model.gradient_parameters();
  for (Index j = 0; j < c.d_model; ++j) {
    CHECK(g.decoder.embedding.at(c.pad_token_id, j) == 0.0F);
    CHECK(g.encoder.embedding.at(c.pad_token_id, j) == 0.0F);
    CHECK(g.output.at(c.pad_token_id, j) == 0.0F);
    CHECK(g.encoder.positions.at(9, j) == 0.0F);  // sentences have at most 9 tokens
  }
}
