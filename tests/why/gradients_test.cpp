#include "why/gradients.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "attribution_golden.h"

using namespace attn;
using namespace attn::test;

namespace {

WordScores scores_of(const Json& item, bool contrast) {
  WordScores scores{ids_of(item.at("source")), ids_of(item.at("decoder_input")),
                    ids_of(item.at("words"))};
  if (contrast) scores.foils = ids_of(item.at("foils"));
  return scores;
}

const char* key_of(bool contrast) {
  return contrast ? "contrast" : "log_prob";
}

LoadedModel toy() {
  return load_model(golden_root() + "/marian-2-heads-toy", Backend::panels);
}

/// Returns a model with sizes that are not multiples of any block size, and an activation without
/// kinks.
ModelConfig odd_pre_norm_config() {
  ModelConfig c;
  c.d_model = 15;
  c.encoder_layers = c.decoder_layers = 2;
  c.encoder_heads = 3;
  c.decoder_heads = 5;
  c.encoder_ffn_dim = 21;
  c.decoder_ffn_dim = 19;
  c.vocab_size = c.decoder_vocab_size = 37;
  c.max_positions = 64;
  c.pad_token_id = c.decoder_start_token_id = 36;
  c.normalize_before = c.add_final_layer_norm = true;
  c.activation = Activation::gelu;
  return c;
}

WordScores toy_scores() {
  return {{5, 9, 7, 0}, {39, 11, 4}, {11, 4, 0}, {12, 5, 6}};
}

}  // namespace

TEST_CASE("gradients of the embeddings are autograd's on transformers' classes") {
  for (const Json& item : attribution_cases()) {
    CAPTURE(item.at("model").get<std::string>());
    const LoadedModel loaded = model_of(item);
    WordGradients gradients(loaded.transformer);
    // PyTorch's own float32 is up to 1e-5 from its float64 where weights are large.
    const double error = item.at("error").get<double>();
    const double allowed = std::max(1e-5, 3 * error);
    const double allowed_sum = std::max(1e-5, 10 * error);  // positive and negative terms cancel
    for (const bool contrast : {false, true}) {
      const EmbeddingGradients found = gradients.gradients(scores_of(item, contrast));
      const Json& expected = item.at("gradient").at(key_of(contrast));
      CHECK(relative_difference(found.source_dot, expected.at("source_dot")) < allowed_sum);
      CHECK(relative_difference(found.source_l2, expected.at("source_l2")) < allowed);
      CHECK(relative_difference(found.source_grad_l2, expected.at("source_grad_l2")) < allowed);
      CHECK(relative_difference(found.target_dot, expected.at("target_dot")) < allowed_sum);
      CHECK(relative_difference(found.target_l2, expected.at("target_l2")) < allowed);
      CHECK(relative_difference(found.target_grad_l2, expected.at("target_grad_l2")) < allowed);
    }
  }
}

TEST_CASE("integrated gradients are those of the midpoint rule with autograd") {
  for (const Json& item : attribution_cases()) {
    CAPTURE(item.at("model").get<std::string>());
    const LoadedModel loaded = model_of(item);
    WordGradients gradients(loaded.transformer);
    const IntegrationOptions options{item.at("unk").get<int>(), 32, 0.01, 32};
    for (const bool contrast : {false, true}) {
      const IntegratedGradients found = gradients.integrated(scores_of(item, contrast), options);
      const Json& expected = item.at("integrated").at(key_of(contrast));
      CHECK(relative_difference(found.source_dot, expected.at("source_dot")) < 1e-4);
      CHECK(relative_difference(found.source_l2, expected.at("source_l2")) < 1e-4);
      CHECK(relative_difference(found.target_dot, expected.at("target_dot")) < 1e-4);
      CHECK(relative_difference(found.target_l2, expected.at("target_l2")) < 1e-4);
      for (std::size_t t = 0; t < found.steps.size(); ++t) {
        CHECK(found.points[t] == 32);
        CHECK(found.deltas[t] ==
              doctest::Approx(expected.at("delta").at(t)).epsilon(1e-4).scale(1));
        CHECK(found.differences[t] ==
              doctest::Approx(expected.at("difference").at(t)).epsilon(1e-5).scale(1));
      }
    }
  }
}

TEST_CASE("some steps alone have the rows that they have among all") {
  const LoadedModel loaded = toy();
  WordGradients gradients(loaded.transformer);
  WordScores scores = toy_scores();
  const EmbeddingGradients all = gradients.gradients(scores);
  scores.steps = {2, 0};
  const EmbeddingGradients some = gradients.gradients(scores);
  CHECK(some.steps == std::vector<Index>{2, 0});
  CHECK(some.source_dot.row(0).isApprox(all.source_dot.row(2), 1e-6F));
  CHECK(some.target_l2.row(1).isApprox(all.target_l2.row(0), 1e-6F));
  CHECK(some.scores[0] == doctest::Approx(all.scores[2]));
}

TEST_CASE("scores that share their forward passes have the gradients that they have alone") {
  const LoadedModel loaded = toy();
  WordScores word = toy_scores();
  word.foils.clear();
  const std::array scores{word, toy_scores()};
  const auto near = [](const Matrix& a, const Matrix& b) { return a.isApprox(b, 1e-5F); };
  KeptGradients kept;
  for (int use = 0; use < 2; ++use) {  // the second one finds the weights of the first
    kept.with(loaded.transformer, [&](WordGradients& gradients) {
      const std::vector<EmbeddingGradients> both = gradients.gradients(std::span(scores));
      // Some steps are exact enough at once, and others need more points.
      std::vector<double> gaps;
      for (const IntegratedGradients& rough :
           gradients.integrated(std::span(scores), {1, 2, 0, 2})) {
        for (std::size_t n = 0; n < rough.steps.size(); ++n) gaps.push_back(rough.gap(n));
      }
      const auto [least, most] = std::minmax_element(gaps.begin(), gaps.end());
      const IntegrationOptions options{1, 2, (*least + *most) / 2, 64};
      std::vector<int> points;
      const std::vector<IntegratedGradients> sums =
          gradients.integrated(std::span(scores), options);
      for (std::size_t s = 0; s < scores.size(); ++s) {
        const EmbeddingGradients alone = gradients.gradients(scores[s]);
        CHECK(both[s].scores == alone.scores);
        CHECK(near(both[s].source_dot, alone.source_dot));
        CHECK(near(both[s].target_grad_l2, alone.target_grad_l2));
        const IntegratedGradients sum = gradients.integrated(scores[s], options);
        CHECK(sums[s].points == sum.points);
        points.insert(points.end(), sum.points.begin(), sum.points.end());
        CHECK(near(sums[s].source_dot, sum.source_dot));
        CHECK(near(sums[s].target_l2, sum.target_l2));
      }
      CHECK(std::ranges::min(points) == 2);
      CHECK(std::ranges::max(points) > 2);
    });
  }
  WordScores other = toy_scores();
  other.steps = {1};
  const std::array different{word, other};
  WordGradients gradients(loaded.transformer);
  CHECK_THROWS_AS(gradients.gradients(std::span(different)), std::logic_error);
}

TEST_CASE("entries of tokens behind a step are 0") {
  const LoadedModel loaded = toy();
  const EmbeddingGradients found = WordGradients(loaded.transformer).gradients(toy_scores());
  CHECK(found.target_grad_l2(0, 1) == 0);
  CHECK(found.target_grad_l2(1, 2) == 0);
  CHECK(found.target_grad_l2(2, 2) > 0);
}

TEST_CASE("points double until the gap is small, and no further than is allowed") {
  const LoadedModel loaded = load_model(golden_root() + "/pegasus-6-heads-swish", Backend::panels);
  const int eos = loaded.transformer.config().eos_token_id;
  const WordScores scores{{5, 9, 7, eos}, {0, 11, 4}, {11, 4, eos}};
  WordGradients gradients(loaded.transformer);
  const IntegratedGradients exact = gradients.integrated(scores, {3, 1, 0.01, 1024});
  const IntegratedGradients rough = gradients.integrated(scores, {3, 1, 0.01, 1});
  const IntegratedGradients limited = gradients.integrated(scores, {3, 3, 1e-12, 20});
  bool doubled = false;
  for (std::size_t t = 0; t < 3; ++t) {
    CHECK(exact.gap(t) <= 0.01);
    CHECK(rough.points[t] == 1);
    CHECK(limited.points[t] == 12);
    doubled = doubled || exact.points[t] > 1;
  }
  CHECK(doubled);
}

TEST_CASE("the gap is what the entries of a row leave of the difference") {
  const LoadedModel loaded = toy();
  const IntegratedGradients found =
      WordGradients(loaded.transformer).integrated(toy_scores(), {1, 4, 0.01, 4});
  for (std::size_t t = 0; t < 3; ++t) {
    const double sum = static_cast<double>(found.source_dot.row(to_index(t)).sum() +
                                           found.target_dot.row(to_index(t)).sum());
    CHECK(sum - found.differences[t] == doctest::Approx(found.deltas[t]).epsilon(1e-4).scale(1));
    CHECK(found.gap(t) ==
          doctest::Approx(std::abs(found.deltas[t]) / std::abs(found.differences[t])));
  }
}

TEST_CASE("a batch of many rows is computed in parts, with the same numbers") {
  const LoadedModel loaded = toy();
  WordGradients gradients(loaded.transformer);
  WordScores scores;
  for (int t = 0; t < 31; ++t) scores.source.push_back(2 + t % 20);
  scores.source.push_back(0);
  scores.decoder_input = {39};
  for (int t = 0; t < 31; ++t) {
    scores.words.push_back(3 + (t * 7) % 20);
    scores.decoder_input.push_back(scores.words.back());
  }
  scores.words.push_back(0);
  std::vector<Index> often;
  for (int again = 0; again < 5; ++again) {
    for (Index t = 0; t < 32; ++t) often.push_back(t);
  }
  const EmbeddingGradients once = gradients.gradients(scores);
  scores.steps = often;
  const EmbeddingGradients many = gradients.gradients(scores);
  CHECK(many.source_dot.middleRows(128, 32).isApprox(once.source_dot, 1e-5F));
  CHECK(many.target_dot.middleRows(96, 32).isApprox(once.target_dot, 1e-5F));
}

TEST_CASE("bad requests for gradients say what is wrong") {
  const LoadedModel loaded = toy();
  WordGradients gradients(loaded.transformer);
  const auto refused = [&](auto&& change, const char* message) {
    WordScores scores = toy_scores();
    change(scores);
    check_input_error([&] { gradients.gradients(scores); }, message);
    check_input_error([&] { gradients.integrated(scores, {}); }, message);
  };
  refused([](WordScores& s) { s.source.clear(); },
          "the source is empty; expected one token or more");
  refused([](WordScores& s) { s.words.clear(); },
          "the target is empty; expected one token or more");
  refused([](WordScores& s) { s.words.pop_back(); },
          "2 words for 3 tokens of the decoder's input; expected one word a token");
  refused([](WordScores& s) { s.foils.pop_back(); }, "2 foils for 3 words; expected one a word");
  refused([](WordScores& s) { s.steps = {3}; }, "step 3 is asked for; the target has steps 0 to 2");
  refused([](WordScores& s) { s.steps = {-1}; },
          "step -1 is asked for; the target has steps 0 to 2");
  refused([](WordScores& s) { s.foils[1] = 40; }, "foil 1 has the id 40; expected 0 to 39");
  refused([](WordScores& s) { s.words[2] = -1; }, "word 2 has the id -1; expected 0 to 39");
  refused([](WordScores& s) { s.source[0] = 40; },
          "source token 0 has the id 40; expected 0 to 39");
  refused([](WordScores& s) { s.foils[1] = s.words[1]; },
          "the foil of step 1 is the word itself (id 4); choose another word");
  refused([](WordScores& s) { s.source.assign(33, 5); },
          "source sentence 0 has 33 tokens; the model takes 1 to 32");
  check_input_error([&] { gradients.integrated(toy_scores(), {40}); },
                    "<unk> 0 has the id 40; expected 0 to 39");
  check_input_error(
      [&] {
        gradients.integrated(toy_scores(), {1, 0});
      },
      "0 integration steps; expected 1 or more");
}

TEST_CASE("models of other parts and patterns account for the whole difference from the baseline") {
  using enum PatternType;
  const auto completes = [](const std::string& part, auto&& change) {
    CAPTURE(part);
    ModelConfig config = odd_pre_norm_config();
    change(config);
    const Transformer model = random_model(config, 5, Backend::panels);
    const WordScores scores{{4, 9, 12, 7, 20, 11, 3, 15, 0}, {36, 5, 8, 30}, {5, 8, 30, 0}};
    const IntegratedGradients found = WordGradients(model).integrated(scores, {1, 64, 0.01, 512});
    for (std::size_t t = 0; t < found.steps.size(); ++t) {
      CAPTURE(found.differences[t]);
      CHECK(found.gap(t) <= 0.01);
    }
    CHECK(found.source_l2.maxCoeff() > 1e-4F);
  };
  completes("linformer", [](ModelConfig& c) {
    c.encoder_attention.type = linformer;
    c.encoder_attention.rank = 3;
  });
  // The backward pass treats performer's stabilizing maximum as a constant, so the gap does not
  // vanish.
  completes("performer", [](ModelConfig& c) {
    c.encoder_attention.type = c.decoder_attention.type = performer;
    c.encoder_attention.features = c.decoder_attention.features = 16;
  });
  completes("window", [](ModelConfig& c) {
    c.encoder_attention.type = c.decoder_attention.type = window;
    c.encoder_attention.windows = c.decoder_attention.windows = {4};
  });
  completes("sparse_fixed", [](ModelConfig& c) {
    c.decoder_attention.type = sparse_fixed;
    c.decoder_attention.stride = 2;
  });
  completes("rotary positions, shared keys and values, RMS norms", [](ModelConfig& c) {
    c.rotary = true;
    c.absolute_positions = false;
    c.d_model = 24;
    c.encoder_heads = c.decoder_heads = 4;
    c.head_dim = 6;
    c.key_value_heads = 2;
    c.norm = NormType::rms;
  });
  completes("relative positions and gates", [](ModelConfig& c) {
    c.relative.buckets = 8;
    c.relative.max_distance = 16;
    c.absolute_positions = false;
    c.gated = true;
  });
}
