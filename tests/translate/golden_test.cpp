// Tests maps, log-probabilities, greedy and beam results against PyTorch and transformers, for
// models that differ in every option (tests/golden/README.md describes how they were made).
#include <doctest/doctest.h>

#include <cmath>

#include "base/at.h"
#include "golden_model.h"
#include "translate/recorder.h"
#include "translate/search/search.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr const char* kKinds[] = {"encoder_self", "decoder_self", "cross"};

/// Returns the largest distance of our maps from the golden ones; the shapes must agree.
double map_distance(const AttentionMaps& ours, const Json& golden) {
  REQUIRE(to_size(ours.layers) == golden.size());
  double worst = 0;
  for (int l = 0; l < ours.layers; ++l) {
    const Json& layer = at(golden, l);
    REQUIRE(to_size(ours.heads) == layer.size());
    for (int h = 0; h < ours.heads; ++h) {
      const Json& head = at(layer, h);
      REQUIRE(to_size(ours.queries) == head.size());
      for (int q = 0; q < ours.queries; ++q) {
        const Json& row = at(head, q);
        REQUIRE(to_size(ours.keys) == row.size());
        double sum = 0;
        double expected_sum = 0;  // less than 1 if Pegasus-X looks at its own global tokens
        for (int k = 0; k < ours.keys; ++k) {
          const double expected = at(row, k).get<double>();
          const double found = ours.at(l, h, q, k);
          if (expected == 0.0) CHECK(found == 0.0);  // masked, so exactly 0
          worst = std::max(worst, std::abs(found - expected));
          sum += found;
          expected_sum += expected;
        }
        CHECK(sum == doctest::Approx(expected_sum).epsilon(1e-5).scale(1));
      }
    }
  }
  return worst;
}

DecodeConfig decode_for(const GoldenModel& golden, const Json& c) {
  DecodeOptions options = golden.model.decode;
  if (c.contains("overrides")) {
    std::vector<std::string> notes;
    options = merge_decode_options(
        decode_options_from_directory(c["overrides"], "overrides", notes), options);
  }
  return resolve_decode_options(options, std::nullopt, golden.name);
}

}  // namespace

TEST_CASE("at least fourteen golden models") {
  CHECK(golden_names().size() >= 14);
}

TEST_CASE("maps and log-probabilities equal PyTorch's") {
  for (const std::string& name : golden_names()) {
    CAPTURE(name);
    GoldenModel golden(name, Backend::panels);
    Transformer& model = golden.model.transformer;
    for (const Json& c : golden.golden["teacher_forced"]) {
      CAPTURE(c["source_ids"].dump());
      if (c.contains("globals")) model.set_global_positions(c["globals"].get<std::vector<Index>>());
      AttentionRecorder recorder;
      const EncodedSource encoded = model.encode(pack({ids_of(c["source_ids"])}), &recorder);
      const Matrix hidden =
          model.decode(pack({ids_of(c["decoder_input_ids"])}), encoded, &recorder);
      Matrix logits(hidden.rows(), model.config().decoder_vocab_size);
      model.logits(hidden, logits);
      const double attention_error = c["error"]["attention"].get<double>();
      for (int kind = 0; kind < 3; ++kind) {
        const AttentionMaps maps = recorder.take(at(attention_sites, kind), 0);
        CHECK(map_distance(maps, c[kKinds[kind]]) <= std::max(1e-5, 3 * attention_error));
      }
      const std::vector<float> ours = log_probabilities(logits, ids_of(c["target_ids"]));
      const auto expected = c["log_probs"].get<std::vector<double>>();
      REQUIRE(ours.size() == expected.size());
      const double tolerance = std::max(1e-4, 3 * c["error"]["log_prob"].get<double>());
      for (std::size_t t = 0; t < ours.size(); ++t) {
        CHECK(std::abs(ours[t] - expected[t]) <= tolerance);
      }
    }
  }
}

TEST_CASE("greedy search finds generate's tokens") {
  for (const std::string& name : golden_names()) {
    const GoldenModel golden(name);
    for (const Json& c : golden.golden["greedy"]) {
      if (c.value("near_tie", false)) continue;
      CAPTURE(name);
      CAPTURE(c["source_ids"].dump());
      DecodeConfig decode = decode_for(golden, c);
      decode.num_beams = decode.num_return_sequences = 1;
      const auto found = search(golden.model.transformer, pack({ids_of(c["source_ids"])}), decode);
      CHECK(found[0][0].ids == ids_of(c["ids"]));
    }
  }
}

TEST_CASE("beam search finds generate's hypotheses and scores, alone and in a batch") {
  for (const std::string& name : golden_names()) {
    const GoldenModel golden(name);
    for (const Json& c : golden.golden["beam"]) {
      if (c.value("near_tie", false)) continue;
      CAPTURE(name);
      CAPTURE(c["source_ids"].dump());
      CAPTURE(c.value("overrides", Json()).dump());
      const DecodeConfig decode = decode_for(golden, c);
      const std::vector<int> source = ids_of(c["source_ids"]);
      const std::vector<int> other = ids_of(golden.golden["greedy"].back()["source_ids"]);
      const auto alone = search(golden.model.transformer, pack({source}), decode);
      const auto batch = search(golden.model.transformer, pack({other, source, other}), decode);
      const Json& expected = c["hypotheses"];
      REQUIRE(alone[0].size() == expected.size());
      REQUIRE(batch[1].size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(alone[0][i].ids == ids_of(expected[i]["ids"]));
        CHECK(alone[0][i].score ==
              doctest::Approx(expected[i]["score"].get<double>()).epsilon(1e-5).scale(1));
        CHECK(batch[1][i].ids == alone[0][i].ids);
        CHECK(batch[1][i].score == alone[0][i].score);
      }
    }
  }
}
