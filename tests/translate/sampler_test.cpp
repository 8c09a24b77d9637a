// Tests sampling: the remaining tokens against transformers' warpers
// (tests/golden/make_warper_goldens.py), and that samples are the same on every machine.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "check_error.h"
#include "golden_model.h"
#include "translate/search/logits_processor.h"
#include "translate/search/search.h"

using namespace attn;
using namespace attn::test;

namespace {

std::vector<float> scores_of(const Json& numbers) {
  std::vector<float> row;
  for (const Json& x : numbers) {
    row.push_back(x.is_null() ? -std::numeric_limits<float>::infinity() : x.get<float>());
  }
  return row;
}

Sampling sampling_of(const Json& settings) {
  Sampling s;
  s.temperature = settings.value("temperature", 1.0F);
  s.top_k = settings.value("top_k", 0);
  s.top_p = settings.value("top_p", 1.0F);
  s.min_p = settings.value("min_p", 0.0F);
  s.typical_p = settings.value("typical_p", 1.0F);
  return s;
}

DecodeConfig drawing(int translations, std::uint64_t seed) {
  DecodeConfig decode;
  decode.sampling = Sampling{};
  decode.sampling->seed = seed;
  decode.num_return_sequences = translations;
  return decode;
}

}  // namespace

TEST_CASE("what is left to draw is what transformers' warpers leave") {
  const Json golden = read_json_file(std::string(ATTN_SOURCE_DIR) + "/tests/golden/warpers.json");
  REQUIRE(golden["cases"].size() > 80);
  for (const Json& c : golden["cases"]) {
    CAPTURE(c.dump());
    const SamplingDistribution weights = sampling_distribution(
        scores_of(golden["rows"][c["row"].get<std::size_t>()]), sampling_of(c["settings"]));
    CHECK(weights.tokens == ids_of(c["left"]));
    const double all = std::accumulate(weights.weights.begin(), weights.weights.end(), 0.0);
    for (std::size_t i = 0; i < weights.weights.size(); ++i) {
      CHECK(std::abs(weights.weights[i] / all - c["probabilities"][i].get<double>()) < 1e-6);
    }
  }
}

TEST_CASE("where everything is forbidden, one token is drawn all the same") {
  const std::vector<float> none(3, -std::numeric_limits<float>::infinity());
  CHECK(sampling_distribution(none, {}).tokens == std::vector<int>{0});
}

TEST_CASE("exponential and logarithm are libm's to a few units of the last place") {
  for (double x = 0; x > -699; x = x * 1.03 - 0.01) {
    CHECK(exact_exp(x) == doctest::Approx(std::exp(x)).epsilon(1e-15).scale(0));
  }
  CHECK(exact_exp(0) == 1.0);
  CHECK(exact_exp(-701) == 0.0);
  CHECK(exact_exp(-std::numeric_limits<double>::infinity()) == 0.0);
  for (double x = 1; x > 1e-12; x *= 0.93) {
    CHECK(exact_log(x) == doctest::Approx(std::log(x)).epsilon(1e-14).scale(1));
  }
}

TEST_CASE("draws have the same bits on every machine") {
  Sampling sampling;
  sampling.top_k = 0;
  sampling.typical_p = 0.95F;
  std::vector<float> row(400);
  fill_uniform(3, "logits", 6.0F, row.data(), row.size());
  std::uint64_t sum = 0;
  Sampler sampler(sampling, std::vector<int>{5, 6, 0}, 1);
  for (int i = 0; i < 200; ++i) sum = sum * 31 + static_cast<std::uint64_t>(sampler.sample(row));
  const std::vector<double> weights = sampling_distribution(row, sampling).weights;
  CHECK(fnv1a(weights.data(), weights.size() * sizeof(double)) == 1323841209932283134U);
  CHECK(sum == 17978498108968927441U);
}

TEST_CASE("a sentence is drawn alone as in a batch, and every number is another draw") {
  const GoldenModel golden("marian-6-heads-gelu");
  const std::vector<int> source = {4, 5, 6, 7, 8, 0}, other = {9, 3, 0};
  const Transformer& model = golden.model.transformer;
  const auto alone = search(model, pack({source}), drawing(5, 7))[0];
  const auto batch = search(model, pack({other, source, other}), drawing(5, 7))[1];
  const auto again = search(model, pack({source}), drawing(5, 8))[0];
  REQUIRE(alone.size() == 5);
  std::vector<std::vector<int>> different;
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(alone[i].ids == batch[i].ids);
    CHECK(alone[i].score == batch[i].score);
    if (i > 0) CHECK(alone[i - 1].score >= alone[i].score);
    if (std::ranges::find(different, alone[i].ids) == different.end()) {
      different.push_back(alone[i].ids);
    }
  }
  CHECK(different.size() > 1);
  const bool same =
      std::ranges::equal(alone, again, {}, &SearchHypothesis::ids, &SearchHypothesis::ids);
  CHECK_FALSE(same);
}

TEST_CASE("only the likeliest is drawn where one token is left") {
  const GoldenModel golden("marian-6-heads-gelu");
  DecodeConfig decode = drawing(1, 3);
  decode.sampling->top_k = 1;
  const std::vector<int> source = {4, 5, 6, 7, 8, 0};
  const auto drawn = search(golden.model.transformer, pack({source}), decode);
  const auto greedy = search(golden.model.transformer, pack({source}), DecodeConfig{});
  CHECK(drawn[0][0].ids == greedy[0][0].ids);
  CHECK(drawn[0][0].score == greedy[0][0].score);
}

TEST_CASE("settings of draws are checked, and beams do not count") {
  DecodeOptions options;
  options.num_beams = 4;
  options.temperature = 0.0F;  // not checked without sampling
  CHECK(resolve_decode_options(options, 0, "x").num_beams == 4);
  options.do_sample = true;
  check_error([&] { resolve_decode_options(options, 0, "x"); }, ExitCode::input,
              "x: temperature 0 is out of range; use 0.001 to 1000");
  options.temperature = 0.5F;
  options.num_return_sequences = 9;
  CHECK(resolve_decode_options(options, 0, "x").num_beams == 1);
  CHECK(resolve_decode_options(options, 0, "x").sampling->top_k == 50);
  options.top_p = 1.5F;
  check_error([&] { resolve_decode_options(options, 0, "x"); }, ExitCode::input,
              "x: top_p 1.5 is out of range; use above 0, up to 1");
  options.top_p = 0.5F;
  options.num_return_sequences = 1001;
  check_error([&] { resolve_decode_options(options, 0, "x"); }, ExitCode::input,
              "x: num_return_sequences 1001 is out of range; use 1 to 1000");
}
