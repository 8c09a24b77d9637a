#include "config/train_config.h"

#include <doctest/doctest.h>

#include <cmath>

#include "check_error.h"

namespace attn::test {
namespace {

TrainConfig read_train(const std::string& text) {
  return train_config_from_experiment(Json::parse(text), "x.json");
}

void refuse_train(const std::string& text, const std::string& part) {
  check_error([&] { read_train(text); }, ExitCode::input, part);
}

double rate(const std::string& schedule, std::uint64_t warmup, std::uint64_t t) {
  TrainConfig config;
  config.learning_rate = 2.0;
  config.warmup_updates = warmup;
  config.updates = 100;
  config.schedule = read_train("{\"updates\": 9, \"schedule\": \"" + schedule + "\"}").schedule;
  return config.learning_rate_at(t);
}

}  // namespace

TEST_CASE("every schedule rises linearly to the largest rate") {
  for (const std::string schedule : {"inverse_sqrt", "constant", "linear", "cosine"}) {
    CHECK(rate(schedule, 20, 1) == doctest::Approx(0.1));
    CHECK(rate(schedule, 20, 10) == doctest::Approx(1.0));
    CHECK(rate(schedule, 20, 19) == doctest::Approx(1.9));
    CHECK(rate(schedule, 20, 20) == doctest::Approx(2.0));
    CHECK(rate(schedule, 20, 21) <= 2.0);
  }
}

TEST_CASE("what follows the warm-up") {
  CHECK(rate("inverse_sqrt", 20, 80) == doctest::Approx(1.0));
  CHECK(rate("inverse_sqrt", 20, 180) == doctest::Approx(2.0 / 3.0));  // also after the last update
  CHECK(rate("constant", 20, 5000) == doctest::Approx(2.0));
  // Values of get_linear_schedule_with_warmup and get_cosine_schedule_with_warmup in transformers
  // 5.23.
  CHECK(rate("linear", 20, 21) == doctest::Approx(2.0));
  CHECK(rate("linear", 20, 22) == doctest::Approx(1.975));
  CHECK(rate("linear", 20, 60) == doctest::Approx(1.025));
  CHECK(rate("linear", 20, 90) == doctest::Approx(0.275));
  CHECK(rate("linear", 20, 100) == doctest::Approx(0.025));
  CHECK(rate("cosine", 20, 21) == doctest::Approx(2.0));
  CHECK(rate("cosine", 20, 22) == doctest::Approx(1.999229036240723));
  CHECK(rate("cosine", 20, 60) == doctest::Approx(1.0392598157590687));
  CHECK(rate("cosine", 20, 90) == doctest::Approx(0.09185682617491864));
  CHECK(rate("cosine", 20, 100) == doctest::Approx(0.000770963759277099));
  CHECK(rate("linear", 20, 101) == 0.0);
  CHECK(rate("cosine", 20, 101) == 0.0);
  CHECK(rate("cosine", 20, 200) == 0.0);
}

TEST_CASE("no update of a run has the learning rate 0") {
  for (const std::string schedule : {"inverse_sqrt", "constant", "linear", "cosine"}) {
    for (const std::uint64_t warmup : {0U, 1U, 2U, 5U, 20U}) {
      for (const std::uint64_t updates : {1U, 2U, 3U, 7U, 100U}) {
        TrainConfig config;
        config.warmup_updates = warmup;
        config.updates = updates;
        config.schedule = read_train(R"({"updates": 9, "schedule": ")" + schedule + "\"}").schedule;
        for (std::uint64_t t = 1; t <= updates; ++t) CHECK(config.learning_rate_at(t) > 0);
      }
    }
  }
}

TEST_CASE("without a warm-up the first update has the largest rate") {
  for (const std::string schedule : {"inverse_sqrt", "constant", "linear", "cosine"}) {
    CHECK(rate(schedule, 0, 1) == doctest::Approx(2.0));
  }
  CHECK(rate("inverse_sqrt", 0, 4) == doctest::Approx(1.0));
  CHECK(rate("linear", 0, 51) == doctest::Approx(1.0));
  CHECK(rate("linear", 100, 100) == doctest::Approx(2.0));  // the warm-up takes all updates
}

TEST_CASE("defaults are those of the header, and every key is read") {
  const TrainConfig plain = read_train("{}");
  CHECK(plain.batch_tokens == 3000);
  CHECK(plain.adam_beta2 == 0.98);
  CHECK(plain.average == WeightAveraging::none);
  const TrainConfig c =
      read_train(R"({"updates": 7, "epochs": 8, "minutes": 0.5, "batch_tokens": 9, "accumulate": 2,
    "learning_rate": 0.5, "warmup_updates": 3, "schedule": "cosine", "adam_beta1": 0.1,
    "adam_beta2": 0.2, "adam_epsilon": 1e-5, "label_smoothing": 0.3, "clip_norm": 4,
    "average": "checkpoints", "average_decay": 0.6, "average_last": 11, "validate_every": 12,
    "early_growth": 1.25, "early_scores": true, "validate_beams": 13, "checkpoint_every": 14, "log_every": 15, "patience": 16,
    "metric": "chrf", "max_length": 17, "precision": "bfloat16", "seed": 9007199254740992})");
  CHECK(c.updates == 7);
  CHECK(c.epochs == 8);
  CHECK(plain.minutes == 0);
  CHECK(c.minutes == 0.5);
  CHECK(c.batch_tokens == 9);
  CHECK(c.accumulate == 2);
  CHECK(c.learning_rate == 0.5);
  CHECK(c.warmup_updates == 3);
  CHECK(c.schedule == LearningRateSchedule::cosine);
  CHECK(c.adam_beta1 == 0.1);
  CHECK(c.adam_beta2 == 0.2);
  CHECK(c.adam_epsilon == 1e-5);
  CHECK(c.label_smoothing == 0.3);
  CHECK(c.clip_norm == 4);
  CHECK(c.average == WeightAveraging::checkpoints);
  CHECK(c.average_decay == 0.6);
  CHECK(c.average_last == 11);
  CHECK(c.validate_every == 12);
  CHECK(plain.early_growth == 1.5);
  CHECK(c.early_growth == 1.25);
  CHECK_FALSE(plain.early_scores);
  CHECK(c.early_scores);
  CHECK(c.validate_beams == 13);
  CHECK(c.checkpoint_every == 14);
  CHECK(c.log_every == 15);
  CHECK(c.patience == 16);
  CHECK(c.metric == ValidationMetric::chrf);
  CHECK(c.max_length == 17);
  CHECK(plain.precision == TrainingPrecision::float32);
  CHECK(c.precision == TrainingPrecision::bfloat16);
  CHECK(c.seed == 9007199254740992U);
}

TEST_CASE("guided alignment: defaults, and lists of heads") {
  const TrainConfig plain = read_train("{}");
  CHECK(plain.guided_alignment_weight == 0.05);
  CHECK_FALSE(plain.guided_alignment_layer);
  CHECK(plain.guided_alignment_heads == std::vector<int>{0});
  const TrainConfig c = read_train(R"({"guided_alignment": "a", "guided_alignment_weight": 0.5,
    "guided_alignment_layer": 2, "guided_alignment_heads": [3, 1]})");
  CHECK(c.guided_alignment == "a");
  CHECK(c.guided_alignment_weight == 0.5);
  CHECK(c.guided_alignment_layer == 2U);
  CHECK(c.guided_alignment_heads == std::vector<int>{1, 3});
  refuse_train(R"({"guided_alignment_weight": 0})",
               "train.guided_alignment_weight 0 is out of range");
  refuse_train(R"({"guided_alignment_heads": []})", "expected a list of heads, as in [0, 1]");
  refuse_train(R"({"guided_alignment_heads": [-1]})", "expected a list of heads");
  refuse_train(R"({"guided_alignment_heads": [1, 1]})", "names a head twice");
}

TEST_CASE("early looks come at update 0, 1 and each time a factor later") {
  const auto looks = [](double growth, std::uint64_t last) {
    TrainConfig config;
    config.early_growth = growth;
    std::vector<std::uint64_t> updates;
    for (std::uint64_t t = 0; t <= last; ++t) {
      if (config.is_early_validation(t)) updates.push_back(t);
    }
    return updates;
  };
  using Updates = std::vector<std::uint64_t>;
  CHECK(looks(2, 100) == Updates{0, 1, 2, 4, 8, 16, 32, 64});
  CHECK(looks(1.5, 40) == Updates{0, 1, 2, 3, 5, 8, 12, 18, 27});
  CHECK(looks(1.01, 9) == Updates{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(looks(1000, 2000) == Updates{0, 1, 1000});
  CHECK(looks(0, 100).empty());
}

TEST_CASE("what the train section must not say") {
  refuse_train(
      R"({"early_growth": 1})",
      "x.json: train.early_growth 1 is out of range; use a factor from 1.01 to 1000, or 0");
  refuse_train(R"({"early_growth": -2})", "train.early_growth -2 is out of range");
  refuse_train(R"({"early_growth": 1e300})", "train.early_growth 1e+300 is out of range");
  refuse_train(R"({"minutes": -1})", "train.minutes -1 is out of range");
  refuse_train(R"({"early_scores": 1})", "train.early_scores");
  refuse_train(R"({"updatse": 3})", "the nearest known one is \"updates\"");
  refuse_train(R"({"updates": -3})", "x.json: train.updates -3 is out of range; use 0 to");
  refuse_train(R"({"updates": "3"})", "train.updates");
  refuse_train(R"({"learning_rate": 0})",
               "train.learning_rate 0 is out of range; use a number above 0");
  refuse_train(R"({"adam_beta1": 1})", "use a number from 0 and below 1");
  refuse_train(
      R"({"schedule": "cosin"})",
      "train.schedule \"cosin\" is not known; use inverse_sqrt, constant, linear or cosine");
  refuse_train(R"({"precision": "half"})",
               "train.precision \"half\" is not known; use float32 or bfloat16");
  refuse_train(R"({"schedule": "cosine"})", "train.updates is missing");
  refuse_train(R"({"seed": 1e300})", "train.seed");
  // These are in range as 64-bit floats, but not as the 32-bit floats that are used.
  refuse_train(
      R"({"adam_epsilon": 1e-300})",
      "x.json: train.adam_epsilon 1e-300 is 0 as a 32-bit float; use a number above 0 and below "
      "1");
  refuse_train(
      R"({"adam_beta1": 0.999999999})",
      "x.json: train.adam_beta1 0.999999999 is 1 as a 32-bit float; use a number from 0 and "
      "below 1");
  refuse_train(R"({"adam_beta2": 0.999999999})", "train.adam_beta2 0.999999999 is 1 as");
  refuse_train(R"({"label_smoothing": 0.999999999})", "train.label_smoothing 0.999999999 is 1 as");
  refuse_train(R"({"learning_rate": 1e-50})", "train.learning_rate 1e-50 is 0 as a 32-bit float");
  refuse_train(R"({"clip_norm": 1e-300})", "train.clip_norm 1e-300 is 0 as a 32-bit float");
  refuse_train(R"({"clip_norm": 1e300})", "train.clip_norm 1e+300 is inf as a 32-bit float");
  CHECK(read_train(R"({"clip_norm": 0, "adam_epsilon": 1e-30, "average_decay": 0.999999999})")
            .average_decay == 0.999999999);
}

}  // namespace attn::test
