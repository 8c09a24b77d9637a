// Tests published families on the command line: init, translate, train, and what they refuse.
#include <doctest/doctest.h>

#include <array>

#include "bad_input.h"
#include "train_run.h"

namespace attn::test {
namespace {

/// Returns the path of a tiny experiment of this family, with the demo's tokenizer and toy data.
std::string write_family(const TemporaryDirectory& scene, const std::string& type,
                         const std::string& more,
                         const std::string& tokenizer = "/data/demo/tokenizer") {
  return scene.write(type + ".json", R"({"model": {"model_type": ")" + type + R"(", "d_model": 12,
    "encoder_layers": 2, "decoder_layers": 1, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16)" +
                                         more + R"(},
    "tokenizer": {"model": ")" + std::string(ATTN_SOURCE_DIR) +
                                         tokenizer + R"("},
    "data": {"train": {"source": ")" + std::string(ATTN_SOURCE_DIR) +
                                         R"(/data/demo/corpus.en",
      "target": ")" + std::string(ATTN_SOURCE_DIR) +
                                         R"(/data/demo/corpus.de"}},
    "train": {"updates": 2, "warmup_updates": 1}})");
}

constexpr const char* kLed = R"(, "attention_window": 4, "max_encoder_position_embeddings": 32)";
constexpr const char* kBigBird =
    R"(, "block_size": 2, "num_random_blocks": 0, "activation_function": "gelu_new")";
constexpr const char* kPegasusX = R"(, "block_size": 4, "num_global_tokens": 2)";

struct Family {
  const char* type;
  const char* name;
  const char* keys;
};

constexpr std::array kFamilies{Family{"bart", "Bart", ""}, Family{"led", "LED", kLed},
                               Family{"bigbird_pegasus", "BigBirdPegasus", kBigBird},
                               Family{"pegasus_x", "PegasusX", kPegasusX}};

}  // namespace

TEST_CASE("families: init writes a directory of the class, which translates and shows maps") {
  const TemporaryDirectory scene;
  for (const auto& family : kFamilies) {
    const std::string type = family.type;
    CAPTURE(type);
    const std::string config = write_family(scene, type, family.keys);
    const std::string model = scene.file("m-" + type);
    const Result made = run_program({.args = {"init", "--config", config, "--out", model}});
    REQUIRE_MESSAGE(made.code == kDone, made.err);
    CHECK(made.out == model + ": " + type + " model with random weights (seed 1)\n");
    const Json written = Json::parse(bytes_of(model + "/config.json"));
    CHECK(written["architectures"][0] == std::string(family.name) + "ForConditionalGeneration");
    const Result shown = run_program(
        {.args = {"translate", "--model", model, "--json", "-", "The group went home"}});
    REQUIRE_MESSAGE(shown.code == kDone, shown.err);
    const Json record = Json::parse(shown.out);
    CHECK(record["encoder_self"].size() == 2);
    CHECK(record["encoder_self"][1][1].size() == record["source"]["ids"].size());
  }
}

TEST_CASE("families: directories with the tokenizers of their classes") {
  const TemporaryDirectory scene;
  const std::string tokenizers = "/tests/golden/tokenizer/";
  for (const auto& [type, keys, tokenizer, file] :
       {std::tuple{"led", kLed, "bytes", "merges.txt"},
        {"bart", "", "bytes", "vocab.json"},
        {"bigbird_pegasus", kBigBird, "pegasus", "spiece.model"},
        {"pegasus_x", kPegasusX, "pegasus", "spiece.model"}}) {
    const std::string kind = type;
    CAPTURE(kind);
    const std::string model = scene.file(kind);
    const std::string config = write_family(scene, kind, keys, tokenizers + tokenizer);
    const Result made = run_program({.args = {"init", "--config", config, "--out", model}});
    REQUIRE_MESSAGE(made.code == kDone, made.err);
    CHECK(bytes_of(model + "/" + file) ==
          bytes_of(std::string(ATTN_SOURCE_DIR) + tokenizers + tokenizer + "/" + file));
    const Result shown = run_program(
        {.args = {"translate", "--model", model, "--json", "-", "The group went home"}});
    REQUIRE_MESSAGE(shown.code == kDone, shown.err);
    const Result from_config = run_program(
        {.args = {"translate", "--config", config, "--json", "-", "The group went home"}});
    CHECK(Json::parse(shown.out)["source"] == Json::parse(from_config.out)["source"]);
  }
}

TEST_CASE("--global chooses LED's global tokens, and says where there are none") {
  const TemporaryDirectory scene;
  const std::string led = scene.file("led"), bart = scene.file("bart"), x = scene.file("x");
  for (const auto& [type, keys, model] :
       {std::tuple{"led", kLed, led},
        {"bart", "", bart},
        {"pegasus_x", R"(, "block_size": 4, "num_global_tokens": 0)", x}}) {
    REQUIRE(
        run_program({.args = {"init", "--config", write_family(scene, type, keys), "--out", model}})
            .code == kDone);
  }
  const auto row_of = [&](const std::string& places) {
    const Result result = run_program({.args = {"translate", "--model", led, "--global", places,
                                                "--json", "-", "The group went to school home"}});
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    return Json::parse(result.out)["encoder_self"][0][0];
  };
  const Json first = row_of("0"), more = row_of("4,0");
  CHECK(first[1][4] == 0);  // outside the window of 4
  CHECK(more[1][4] != 0);
  CHECK(first[4][1] == 0);
  CHECK(more[4][1] != 0);
  const Json none = row_of("none");
  CHECK(first[0][4] != 0);
  CHECK(none[0][4] == 0);
  const auto refuse = [&](const std::string& model, const std::string& places,
                          const std::string& message) {
    const Result result =
        run_program({.args = {"translate", "--model", model, "--global", places, "a"}});
    CHECK(result.code == kUsage);
    CHECK(result.err == "attn-demo: " + message + "\n");
  };
  refuse(led, "0,32", "--global 32: expected a whole number from 0 to 31, in plain decimals");
  refuse(led, "5,0,5", "--global 5,0,5: token 5 is named twice");
  refuse(led, "0,", "--global : expected a whole number from 0 to 31, in plain decimals");
  for (const std::string& model : {bart, x}) {  // x's global tokens would be its own
    refuse(model, "0",
           "--global 0: the encoder of " + model +
               " cannot have global tokens; only LED and the patterns longformer and chunks have "
               "them");
  }
}

TEST_CASE("train: a model of each published family learns and is written back") {
  const TemporaryDirectory scene;
  for (const auto& family : kFamilies) {
    const std::string type = family.type;
    CAPTURE(type);
    const std::string out = scene.file("run-" + type);
    const Result done =
        run_program({.args = {"train", write_family(scene, type, family.keys), "--out", out}});
    REQUIRE_MESSAGE(done.code == kDone, done.err);
    CHECK(Json::parse(bytes_of(out + "/model/config.json"))["model_type"] == type);
    CHECK(run_program({.args = {"translate", "--model", out + "/model", "He went"}}).code == kDone);
  }
}

}  // namespace attn::test
