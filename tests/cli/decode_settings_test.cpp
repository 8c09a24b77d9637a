// Tests that the settings of a model directory have the meaning of transformers' generate. The ids
// are those of transformers 5.23 on the same directories (MarianMTModel, the demo's model of seed
// 7).
#include <doctest/doctest.h>

#include "model_files.h"
#include "run_program.h"

namespace attn::test {
namespace {

using Ids = std::vector<int>;

struct Case {
  std::string name;
  Json generation;  ///< generation_config.json; null: no such file
  Json config;      ///< changes config.json; null removes the key
  Ids ids;
};

/// Returns the keys that every useful generation_config.json has, and those of `more`.
Json with_ids(const Json& more) {
  Json json = {{"eos_token_id", 0}, {"decoder_start_token_id", 132}, {"pad_token_id", 132}};
  json.update(more);
  return json;
}

Ids translated(const Case& one) {
  const TemporaryDirectory scene;
  ModelFiles model = ModelFiles::good();
  model.files.erase("generation_config.json");
  if (!one.generation.is_null()) model.files["generation_config.json"] = one.generation.dump();
  for (const auto& [key, value] : one.config.items()) model.set("config.json", key, value);
  const Result result = run_program({.args = {"translate", "--model", model.write(scene, "m"),
                                              "--json", "-", "The group went home"}});
  REQUIRE_MESSAGE(result.code == 0, result.err);
  return Json::parse(result.out)["hypotheses"][0]["ids"].get<Ids>();
}

}  // namespace

TEST_CASE("generation_config.json alone counts, and without it config.json") {
  const Ids free{93, 125, 125, 125, 125, 125, 125, 125};
  const Ids forced{93, 125, 125, 125, 125, 125, 125, 0};
  const Json nothing = Json::object();
  const Json nine = {{"max_length", 9}};
  for (const Case& one : std::vector<Case>{
           {"a missing forced end is none, whatever config.json says",
            with_ids(nine),
            {{"forced_eos_token_id", 0}, {"num_beams", 3}},
            free},
           {"a forced end", with_ids({{"max_length", 9}, {"forced_eos_token_id", 0}}), nothing,
            forced},
           {"config.json alone", nullptr, {{"max_length", 9}, {"forced_eos_token_id", 0}}, forced},
           {"config.json without a forced end",
            nullptr,
            {{"max_length", 9}, {"forced_eos_token_id", nullptr}},
            free},
           {"beams in config.json",
            nullptr,
            {{"max_length", 9},
             {"num_beams", 3},
             {"length_penalty", 0.5},
             {"forced_eos_token_id", 0}},
            {93, 125, 125, 14, 14, 14, 14, 0}},
           {"nulls are defaults", with_ids({{"max_length", 9}, {"num_beams", nullptr}}), nothing,
            free},
           {"bos for the start",
            {{"max_length", 9}, {"eos_token_id", 0}, {"bos_token_id", 132}},
            nothing,
            free},
           {"no end", {{"max_length", 9}, {"decoder_start_token_id", 132}}, nothing, free},
           {"new tokens",
            with_ids({{"max_length", 9}, {"max_new_tokens", 3}}),
            nothing,
            {93, 125, 125}},
           {"one of several ends",
            with_ids({{"max_length", 9}, {"eos_token_id", {0, 125}}}),
            nothing,
            {93, 125}},
           {"several ends and beams",
            with_ids({{"max_length", 9}, {"eos_token_id", {125, 14}}, {"num_beams", 3}}),
            nothing,
            {93, 125}},
           {"an end that is not the forced one",
            with_ids({{"max_length", 9},
                      {"eos_token_id", {125}},
                      {"num_beams", 3},
                      {"forced_eos_token_id", 0}}),
            nothing,
            {93, 79, 14, 14, 14, 14, 14, 0}},
           {"an end stays legal",
            with_ids({{"max_length", 9},
                      {"eos_token_id", {125, 0}},
                      {"bad_words_ids", Json::array({Json::array({125})})}}),
            nothing,
            {93, 125}},
           {"length penalty and never",
            with_ids({{"max_length", 9},
                      {"num_beams", 3},
                      {"length_penalty", 2.0},
                      {"early_stopping", "never"}}),
            nothing,
            {93, 125, 125, 14, 14, 14, 14, 14}},
       }) {
    CAPTURE(one.name);
    CHECK(translated(one) == one.ids);
  }
}

}  // namespace attn::test
