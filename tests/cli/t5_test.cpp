// Tests T5 on the command line: task prefixes, views of its relative position bias, and errors.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "bad_input.h"
#include "base/files/files.h"
#include "train_run.h"

namespace attn::test {
namespace {

std::string write_t5(const TemporaryDirectory& scene, const std::string& type) {
  const std::string data = std::string(ATTN_SOURCE_DIR) + "/data/demo/";
  return scene.write(type + ".json", R"({"model": {"model_type": ")" + type +
                                         R"(", "d_model": 12, "num_layers": 2, "num_heads": 2,
    "d_kv": 5, "d_ff": 16, "feed_forward_proj": "gated-gelu"},
    "tokenizer": {"model": ")" + data + R"(tokenizer"},
    "data": {"train": {"source": ")" + data +
                                         R"(corpus.en", "target": ")" + data + R"(corpus.de"}},
    "train": {"updates": 2}})");
}

std::string make_t5(const TemporaryDirectory& scene, const std::string& type) {
  std::string model = scene.file("model-" + type);
  const Result made =
      run_program({.args = {"init", "--config", write_t5(scene, type), "--out", model}});
  REQUIRE_MESSAGE(made.code == kDone, made.err);
  return model;
}

Json t5_record(const std::string& model, const std::vector<std::string>& more) {
  std::vector<std::string> args{"translate", "--model", model, "--json", "-"};
  args.insert(args.end(), more.begin(), more.end());
  const Result shown = run_program({.args = args});
  REQUIRE_MESSAGE(shown.code == kDone, shown.err);
  return Json::parse(shown.out);
}

}  // namespace

TEST_CASE("T5: init writes the class's own keys; maps and records have heads of their own width") {
  const TemporaryDirectory scene;
  for (const std::string type : {"t5", "mt5", "umt5"}) {
    CAPTURE(type);
    const std::string model = make_t5(scene, type);
    const Json config = Json::parse(bytes_of(model + "/config.json"));
    CHECK(config["d_kv"] == 5);
    CHECK(config["num_decoder_layers"] == 2);
    CHECK(config["feed_forward_proj"] == "gated-gelu");
    CHECK_FALSE(config.contains("encoder_layers"));
    CHECK_FALSE(config.contains("forced_eos_token_id"));
    const Json record = t5_record(model, {"The group went home"});
    CHECK(record["model"]["head_dim"] == 5);
    CHECK(record["model"]["encoder_head_dim"] == 5);
    CHECK(record["model"]["encoder_scale"] == 1);
    CHECK(record["encoder_self"][1][1].size() == record["source"]["ids"].size());
    CHECK_FALSE(record.contains("vectors"));
    const Json whole = t5_record(model, {"--vectors", "The group went home"});
    // Base64 of 2 layers and 2 heads, each with 2S − 1 floats.
    const std::size_t n = whole["source"]["ids"].size(), floats = 2 * 2 * (2 * n - 1);
    const Json& vectors = whole["vectors"]["encoder_self"];
    CHECK(vectors["distances"].get<std::string>().size() == (4 * floats + 2) / 3 * 4);
    CHECK_FALSE(whole["hypotheses"][0]["vectors"]["cross"].contains("distances"));
    const std::string saved = scene.write("saved.json", whole.dump());
    const Result page =
        run_program({.args = {"page", saved, "--html", scene.file(type + ".html")}});
    CHECK_MESSAGE(page.code == kDone, page.err);
  }
}

TEST_CASE("--prefix stands before every text that is not blank and does not begin with it") {
  const TemporaryDirectory scene;
  const std::string model = make_t5(scene, "t5");
  const Json typed = t5_record(model, {"The group went home"});
  const Json with = t5_record(model, {"--prefix", "The group ", "went home"});
  CHECK(with["source"] == typed["source"]);
  const Json twice = t5_record(model, {"--prefix", "The group ", "The group went home"});
  CHECK(twice["source"] == typed["source"]);
  const Result lines = run_program(
      {.args = {"translate", "--model", model, "--prefix", "The "}, .input = "  \ngroup\n"});
  CHECK(lines.code == kDone);
  CHECK(lines.out.starts_with("  \n"));
}

TEST_CASE("prefixes that config.json names are said once none is given") {
  const TemporaryDirectory scene;
  const std::string model = make_t5(scene, "t5");
  Json config = Json::parse(bytes_of(model + "/config.json"));
  config["task_specific_params"] = {{"a", {{"prefix", "to German: "}}},
                                    {"b", {{"prefix", "to French: "}}},
                                    {"c", {{"prefix", "to French: "}}},
                                    {"d", 7}};
  write_file(model + "/config.json", config.dump());
  const Result silent =
      run_program({.args = {"translate", "--model", model, "--prefix", "The ", "group"}});
  CHECK(silent.code == kDone);
  CHECK(silent.err.find("task_specific_params") == std::string::npos);
  const Result told = run_program({.args = {"translate", "--model", model, "group"}});
  CHECK(told.err.find("config.json (task_specific_params) names the prefixes \"to German: \", \"to "
                      "French: \"; type one before a text, or give it with --prefix") !=
        std::string::npos);
  const std::string again = scene.path() + "/again";
  CHECK(run_program({.args = {"convert", "--model", model, "--out", again}}).code == kDone);
  CHECK(Json::parse(bytes_of(again + "/config.json"))["task_specific_params"] ==
        config["task_specific_params"]);
}

TEST_CASE("T5: a directory's table of another shape, and buckets that no table has, in one line") {
  const TemporaryDirectory scene;
  const std::string model = make_t5(scene, "t5");
  const Json good = Json::parse(bytes_of(model + "/config.json"));
  const std::string table =
      "tensor encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight has shape "
      "[32, 2]; config.json asks for ";
  struct Fault {
    std::string key;
    int value;
    std::string said;
  };
  for (const Fault& fault : {Fault{"relative_attention_num_buckets", 16, table + "[16, 2]"},
                             Fault{"num_heads", 4, table + "[32, 4]"},
                             Fault{"relative_attention_num_buckets", 7, "is 7; use an even number"},
                             Fault{"relative_attention_num_buckets", 0, "is 0; use 4 to 65536"}}) {
    CAPTURE(fault.said);
    Json config = good;
    config[fault.key] = fault.value;
    write_file(model + "/config.json", config.dump());
    const Result refused = run_program({.args = {"translate", "--model", model, "group"}});
    CHECK(refused.code == kInput);
    CHECK_MESSAGE(refused.err.find(fault.said) != std::string::npos, refused.err);
    CHECK(std::ranges::count(refused.err, '\n') == 1);
  }
}

TEST_CASE("T5: explain shows the biases of distances as a step of their own") {
  const TemporaryDirectory scene;
  const std::string model = make_t5(scene, "umt5");
  for (const std::string kind : {"encoder", "decoder", "cross"}) {
    CAPTURE(kind);
    const Result explained =
        run_program({.args = {"explain", "--model", model, "--kind", kind, "--json", "-",
                              "--target", "Die Gruppe ging", "The group went home"}});
    REQUIRE_MESSAGE(explained.code == kDone, explained.err);
    const Json steps = Json::parse(explained.out)["steps"];
    const auto step = [&](const std::string& id) {
      const auto found = std::find_if(steps.begin(), steps.end(),
                                      [&](const Json& each) { return each["id"] == id; });
      return found == steps.end() ? Json() : *found;
    };
    const Json distances = step("distances");
    CHECK(distances.is_null() == (kind == "cross"));
    if (kind == "cross") continue;
    // Softmax reads the sum of the scores, the bias and the mask.
    const Json scaled = step("scaled")["matrices"][0], bias = distances["matrices"][0];
    const Json& biased = distances["matrices"][1];
    CHECK(scaled["values"][1][0].get<float>() + bias["values"][1][0].get<float>() ==
          doctest::Approx(biased["values"][1][0].get<float>()));
    const Json masked = step("masked");
    CHECK(masked["matrices"][1]["values"][1][0] == biased["values"][1][0]);
    CHECK(bias["values"][1][0] == bias["values"][2][1]);  // the same distance
    const Json& by_distance = distances["matrices"][2];
    const std::size_t n = bias["values"].size();
    CHECK(by_distance["values"][0].size() == (kind == "decoder" ? n : 2 * n - 1));
    CHECK(by_distance["values"][0][n - 2] == bias["values"][1][0]);
  }
}

TEST_CASE(
    "T5: pictures show biases by distance beside a head, and JSON beside them has no vectors") {
  const TemporaryDirectory scene;
  const std::string model = make_t5(scene, "umt5"), svg = scene.file("m.svg");
  const Json record =
      t5_record(model, {"--show", "encoder:1:0", "--svg", svg, "The group went home"});
  CHECK_FALSE(record.contains("vectors"));
  const std::string picture = bytes_of(svg);
  CHECK(picture.find("encoder-1-0-bias-by-distance") != std::string::npos);
  const std::size_t tokens = record["source"]["ids"].size();
  std::size_t bars = 0;
  for (std::size_t i = picture.find("data-bias"); i != std::string::npos; ++bars) {
    i = picture.find("data-bias", i + 1);
  }
  CHECK(bars == 2 * tokens - 1);
  // A saved record contains them if it was written with --vectors.
  for (const bool whole : {true, false}) {
    std::vector<std::string> more{"The group went home"};
    if (whole) more.insert(more.begin(), "--vectors");
    const std::string saved = scene.write("saved.json", t5_record(model, more).dump());
    const Result page =
        run_program({.args = {"page", saved, "--show", "encoder:1:0", "--svg", svg}});
    REQUIRE_MESSAGE(page.code == kDone, page.err);
    CHECK((bytes_of(svg) == picture) == whole);
  }
}

TEST_CASE("T5: kinds of attention are not compared, as none but the exact one takes biases") {
  const TemporaryDirectory scene;
  const std::string model = make_t5(scene, "t5");
  const Result result = run_program(
      {.args = {"explain", "--model", model, "--compare", "attention", "The group went home"}});
  CHECK(result.code == kInput);
  CHECK(result.err.find("the encoder's heads have biases of distances") != std::string::npos);
}

TEST_CASE("T5 is trained as the others are, and keeps the class's own keys and names") {
  const TemporaryDirectory scene;
  for (const std::string type : {"t5", "umt5"}) {
    CAPTURE(type);
    const Result result =
        run_program({.args = {"train", write_t5(scene, type), "--out", scene.file(type)}});
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    CHECK(result.err.find("transformers has no class") == std::string::npos);
    const std::string model = scene.file(type) + "/model";
    CHECK(Json::parse(bytes_of(model + "/config.json"))["model_type"] == type);
    CHECK(run_program({.args = {"translate", "--model", model, "The group went home"}}).code ==
          kDone);
  }
}

}  // namespace attn::test
