#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "base/at.h"
#include "base/json.h"
#include "base/strings/utf8.h"
#include "record/json/record_json.h"
#include "view/sample_record.h"

namespace attn {
namespace {

using test::demo_record;
using test::patterned_record;
using test::sample_maps;
using test::small_longformer;

Json parsed(const AttentionRecord& record) {
  const std::string line = to_json_line(record);
  REQUIRE(line.ends_with('\n'));
  REQUIRE(line.find('\n') == line.size() - 1);
  return Json::parse(line);
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

/// Returns the bits of the float that a reader gets from the JSON number.
std::uint32_t bits_of(const Json& number) {
  REQUIRE(number.is_number());
  return std::bit_cast<std::uint32_t>(static_cast<float>(number.get<double>()));
}

void check_maps(const Json& json, const AttentionMaps& maps) {
  REQUIRE(json.size() == to_size(maps.layers));
  std::size_t next = 0;
  for (const Json& layer : json) {
    REQUIRE(layer.size() == to_size(maps.heads));
    for (const Json& head : layer) {
      REQUIRE(head.size() == to_size(maps.queries));
      for (const Json& row : head) {
        REQUIRE(row.size() == to_size(maps.keys));
        for (const Json& weight : row) {
          REQUIRE(bits_of(weight) == std::bit_cast<std::uint32_t>(maps.weights[next++]));
        }
      }
    }
  }
  CHECK(next == maps.weights.size());
}

void check_tokens(const Json& json, const TokenSequence& sequence) {
  CHECK(json["tokens"].get<std::vector<std::string>>() == sequence.tokens);
  CHECK(json["ids"].get<std::vector<int>>() == sequence.ids);
}

TEST_CASE("json: every value comes back, floats bit by bit") {
  AttentionRecord record = demo_record();
  record.hypotheses.push_back(record.hypotheses[0]);
  record.hypotheses[1].text = "anders";
  record.hypotheses[0].score = -0.41f;
  record.hypotheses[1].score = -1e-30f;
  record.encoder_self = sample_maps(3, 4, 5, 5, false);
  record.encoder_self.weights[0] = std::numeric_limits<float>::denorm_min();
  record.encoder_self.weights[1] = std::nextafter(1.0f, 0.0f);
  record.encoder_self.weights[2] = 0.1f;
  const Json json = parsed(record);
  CHECK(json["format"] == "attn-demo.attention");
  CHECK(json["version"] == 1);
  CHECK(json["source"]["text"] == "The group went home");
  check_tokens(json["source"], record.source);
  check_maps(json["encoder_self"], record.encoder_self);
  REQUIRE(json["hypotheses"].size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& found = json["hypotheses"][i];
    const HypothesisRecord& expected = record.hypotheses[i];
    CHECK(found["text"] == expected.text);
    check_tokens(found, expected.produced);
    check_tokens(found["decoder_input"], expected.decoder_input);
    CHECK(bits_of(found["score"]) == std::bit_cast<std::uint32_t>(expected.score));
    REQUIRE(found["log_probs"].size() == expected.log_probs.size());
    for (std::size_t t = 0; t < expected.log_probs.size(); ++t) {
      CHECK(bits_of(found["log_probs"][t]) == std::bit_cast<std::uint32_t>(expected.log_probs[t]));
    }
    check_maps(found["decoder_self"], expected.decoder_self);
    check_maps(found["cross"], expected.cross);
  }
}

TEST_CASE("json: keys and their order are those of version 1") {
  using Keys = std::vector<std::string>;
  const Json json = parsed(demo_record());
  CHECK(keys_of(json) ==
        Keys{"format", "version", "model", "source", "encoder_self", "hypotheses"});
  CHECK(keys_of(json["source"]) == Keys{"text", "tokens", "ids"});
  CHECK(keys_of(json["hypotheses"][0]) == Keys{"text", "tokens", "ids", "score", "log_probs",
                                               "decoder_input", "decoder_self", "cross"});
  CHECK(keys_of(json["hypotheses"][0]["decoder_input"]) == Keys{"tokens", "ids"});
  CHECK(keys_of(json["model"]) == Keys{"weights", "seed", "name", "d_model", "encoder_layers",
                                       "decoder_layers", "encoder_heads", "decoder_heads",
                                       "encoder_head_dim", "decoder_head_dim", "encoder_ffn_dim",
                                       "decoder_ffn_dim", "vocab_size", "decoder_vocab_size",
                                       "encoder_scale", "decoder_scale"});
}

TEST_CASE("json: vectors and the search are there where they were recorded") {
  AttentionRecord record = demo_record();
  const auto vectors = [](float first) {
    AttentionVectors v;
    v.scale = 0.5F;
    for (HeadVectors* each : {&v.query, &v.key, &v.value}) {
      *each = {1, 1, 1, 2, {first, -0.1F}};
      first += 1;
    }
    return v;
  };
  record.encoder_vectors = vectors(1);
  HypothesisRecord& hypothesis = record.hypotheses[0];
  hypothesis.decoder_self_vectors = vectors(10);
  hypothesis.cross_vectors = vectors(20);
  record.model.decoder_layers = 1;
  record.model.decoder_heads = 2;
  record.search.emplace();
  record.search->beams = 4;
  record.search->length_penalty = 0.6F;
  record.search->nodes.push_back(
      {-1, 0, 7, "▁Die", -0.25F, -0.25F, -0.5F, true, false, {1, 0.5F}, {0.1F, 0.9F, 0.3F, 0.7F}});
  const Json json = parsed(record);
  // 1.0f is 00 00 80 3f, −0.1f is cd cc cc bd.
  CHECK(json["vectors"]["encoder_self"]["query"] == "AACAP83MzL0=");
  CHECK(json["hypotheses"][0]["vectors"]["decoder_self"]["query"] == "AAAgQc3MzL0=");
  CHECK(json["hypotheses"][0]["vectors"]["cross"]["value"] == "AACwQc3MzL0=");
  const Json expected = Json::parse(
      R"({"beams":4,"length_penalty":0.6,"nodes":[{"parent":-1,"step":0,"id":7,"token":"▁Die",)"
      R"("log_prob":-0.25,"sum":-0.25,"score":-0.5,"kept":true,"ended":false,)"
      R"("decoder_self":[[[1],[0.5]]],"cross":[[[0.1,0.9],[0.3,0.7]]]}]})");
  CHECK(json["search"] == expected);
}

TEST_CASE("json: the likeliest pieces, the way and how the search went, where they were recorded") {
  AttentionRecord record = demo_record();
  record.decoding = Decoding{false, 4, 0.5F};
  record.residual_stream = {{"embedded", "", -1, 2, {1, -0.1F}},
                            {"added", "feed_forward", 1, 1, {1, -0.1F}}};
  HypothesisRecord& hypothesis = record.hypotheses[0];
  hypothesis.alternatives =
      Alternatives{2, {7, 5, 6, 8}, {"a", "b\"", "c", "d"}, {-0.1F, -1, -2, -3}, {}, {0, 1}};
  hypothesis.residual_stream = {{"hidden", "feed_forward", 0, 2, {1, -0.1F}}};
  const Json json = parsed(record);
  CHECK(json["decoding"].dump() == R"({"beams":4,"length_penalty":0.5})");
  CHECK(
      json["way"] ==
      Json::parse(
          R"([{"stage":"embedded","columns":2,"values":"AACAP83MzL0="},)"
          R"({"stage":"added","block":"feed_forward","layer":1,"columns":1,"values":"AACAP83MzL0="}])"));
  CHECK(
      json["hypotheses"][0]["way"] ==
      Json::parse(
          R"([{"stage":"hidden","block":"feed_forward","layer":0,"columns":2,"values":"AACAP83MzL0="}])"));
  CHECK(
      json["hypotheses"][0]["alternatives"] ==
      Json::parse(
          R"({"ids":[[7,5],[6,8]],"tokens":[["a","b\""],["c","d"]],"log_probs":[[-0.1,-1],[-2,-3]],)"
          R"("ranks":[0,1]})"));
  hypothesis.alternatives->logits = {4, 3, 2, 1};
  record.decoding = Decoding{true, 1, 1};
  CHECK(parsed(record)["hypotheses"][0]["alternatives"]["logits"].dump() == "[[4,3],[2,1]]");
  CHECK(parsed(record)["decoding"].dump() == R"({"given":true})");
}

TEST_CASE("json: the model's facts") {
  AttentionRecord record = demo_record();
  record.model = {
      true, 18446744073709551615u, "configs/\"x\".json", 24, 3, 5, 4, 6, 48, 96, 100, 101, 0, 0.25F,
      0.5F};
  const std::string expected =
      R"("model":{"weights":"random","seed":18446744073709551615,"name":"configs/\"x\".json",)"
      R"("d_model":24,"encoder_layers":3,"decoder_layers":5,"encoder_heads":4,"decoder_heads":6,)"
      R"("encoder_head_dim":6,"decoder_head_dim":4,"encoder_ffn_dim":48,"decoder_ffn_dim":96,)"
      R"("vocab_size":100,"decoder_vocab_size":101,"encoder_scale":0.25,"decoder_scale":0.5})";
  CHECK(to_json_line(record).find(expected) != std::string::npos);
  record.model.random_weights = false;
  record.model.seed.reset();
  CHECK(to_json_line(record).find(R"({"weights":"loaded","seed":null,)") != std::string::npos);
  record.model.seed = 0;
  CHECK(to_json_line(record).find(R"("seed":0,)") != std::string::npos);
}

TEST_CASE("json: hostile text stays one line, comes back, and is JavaScript, too") {
  AttentionRecord record = demo_record();
  const std::string text = "a\"b\\c\u2028d\u2029e</script>\n\r\t\x01\x1b[31m 漢 😀 \u202E";
  record.source_text = text;
  record.source.tokens[0] = text;
  record.model.name = text;
  record.hypotheses[0].text = text;
  record.hypotheses[0].produced.tokens[0] = text;
  record.hypotheses[0].decoder_input.tokens[1] = text;
  const std::string line = to_json_line(record);
  CHECK(line.find("\u2028") == std::string::npos);
  CHECK(line.find("\u2029") == std::string::npos);
  for (const char byte : line.substr(0, line.size() - 1)) {
    REQUIRE(byte_value(byte) >= 0x20);
  }
  const Json json = parsed(record);
  CHECK(json["source"]["text"] == text);
  CHECK(json["source"]["tokens"][0] == text);
  CHECK(json["model"]["name"] == text);
  CHECK(json["hypotheses"][0]["text"] == text);
  CHECK(json["hypotheses"][0]["tokens"][0] == text);
  CHECK(json["hypotheses"][0]["decoder_input"]["tokens"][1] == text);
}

TEST_CASE("json: masked cells are exactly 0") {
  const Json json = parsed(demo_record());
  const Json& map = json["hypotheses"][0]["decoder_self"][1][0];
  for (std::size_t query = 0; query < map.size(); ++query) {
    for (std::size_t key = query + 1; key < map.size(); ++key) CHECK(map[query][key] == 0);
  }
}

TEST_CASE("json: a record without hypotheses") {
  AttentionRecord record = demo_record();
  record.hypotheses.clear();
  CHECK(parsed(record)["hypotheses"] == Json::array());
}

TEST_CASE("json: NaN is never written") {
  AttentionRecord record = demo_record();
  record.encoder_self.weights[3] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_AS(to_json_line(record), std::logic_error);
}

TEST_CASE("json: what a pattern computed, why, and how far tokens see") {
  const Json plain = parsed(demo_record());
  CHECK_FALSE(plain.contains("seen"));
  AttentionRecord record = patterned_record();
  record.encoder_self.seen->non_token_weights = {&model_global_tokens,
                                                 std::vector<float>(4 * 5, 0.25F)};
  const Json json = parsed(record);
  CHECK_FALSE(json["hypotheses"][0].contains("seen"));
  CHECK(json["encoder_self"][1][1].size() == 5);  // dense, as always
  CHECK(json["seen"].dump() ==
        R"({"encoder_self":{"reasons":["window","global"],"patterns":[[[0,5,1],[0,1,1,1,2,0],)"
        R"([0,1,1,1,3,0],[0,1,1,2,3,0],[0,1,1,3,2,0]]],"of":[[0,0],[0,0]],"own_global":[[)"
        R"([0.25,0.25,0.25,0.25,0.25],[0.25,0.25,0.25,0.25,0.25]],[[0.25,0.25,0.25,0.25,0.25],)"
        R"([0.25,0.25,0.25,0.25,0.25]]],"reach":[[0,5,1],[0,3,1,3,2,2],[0,4,1,4,1,2],)"
        R"([0,1,1,1,1,2,2,3,1],[0,1,1,1,2,2,3,2,1]]}})");
}

TEST_CASE("json: large maps of a pattern are the computed cells alone") {
  constexpr int tokens = max_dense_tokens + 1;
  AttentionRecord record = demo_record();
  AttentionMaps& maps = record.encoder_self;
  maps = {1, 2, tokens, tokens, {}, PatternMaps{{small_longformer(tokens)}, {0, 0}}};
  const std::size_t cells = maps.seen->patterns[0].count();
  CHECK(maps.weight_count() == 2 * cells);
  for (std::size_t i = 0; i < 2 * cells; ++i) maps.weights.push_back(static_cast<float>(i));
  const Json json = parsed(record);
  CHECK(json["encoder_self"].dump() == "[]");
  const Json& seen = json["seen"]["encoder_self"];
  CHECK_FALSE(seen.contains("reach"));
  CHECK(seen["weights"][0][0][0].size() == tokens);
  CHECK(seen["weights"][0][0][1].dump() == "[1025,1026,1027]");
  CHECK(seen["weights"][0][1][1][0] == cells + tokens);
  CHECK(seen["weights"][0][1][tokens - 1].size() == 3);
  std::vector<float> scratch;
  const std::span<const float> whole = maps.whole(0, 1, scratch);
  CHECK(whole[tokens + 2] == static_cast<float>(cells + tokens + 2));
  CHECK(whole[tokens + 3] == 0);
  CHECK(to_json_line(record).size() < 200'000);
}

}  // namespace
}  // namespace attn
