// train: what a run leaves in its directory, and what the config asks of it.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "train_run.h"

namespace attn::test {
namespace {

/// Every number below is finite, and null (what NaN is written as) nowhere.
void check_finite(const Json& json) {
  if (json.is_structured()) {
    for (const Json& each : json) check_finite(each);
    return;
  }
  CHECK_FALSE(json.is_null());
  if (json.is_number()) CHECK(std::isfinite(json.get<double>()));
}

std::vector<std::uint64_t> updates_of(const std::vector<Json>& log, const std::string& event) {
  std::vector<std::uint64_t> updates;
  for (const Json& line : log) {
    if (line["event"] == event) updates.push_back(line["update"].get<std::uint64_t>());
  }
  return updates;
}

using Updates = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("train leaves the files that DESIGN names") {
  const TrainScene scene;
  const Result result = scene.train("run");
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  CHECK(result.out == "");
  const std::vector<std::string> names = listing(scene.file("run"));
  const std::set<std::string> have(names.begin(), names.end());
  for (const std::string name :
       {"checkpoints/checkpoint-000000009", "checkpoints/checkpoint-000000012", "config.json",
        "curve.svg", "model/config.json", "model/model.safetensors", "model/source.spm",
        "model/target.spm", "model/vocab.json", "model/tokenizer_config.json", "probe.jsonl",
        "train.jsonl"}) {
    CHECK_MESSAGE(have.count(name) == 1, name);
  }
  CHECK(checkpoints_of(scene.file("run")) == Updates{9, 12});
  for (const std::string& name : names) CHECK_MESSAGE(name.find("tmp") == std::string::npos, name);
}

TEST_CASE("train.jsonl has each update once, and only finite figures") {
  const TrainScene scene;
  scene.must_train("run");
  const std::vector<Json> log = log_of(scene.file("run"));
  for (const Json& line : log) check_finite(line);
  CHECK(updates_of(log, "train") == Updates{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(updates_of(log, "validation") == Updates{4, 8, 12});
  CHECK_FALSE(updates_of(log, "epoch").empty());
  for (const std::string& line : lines_of(bytes_of(scene.file("run/train.jsonl")))) {
    const Json event = Json::parse(line);
    if (event["event"] == "train") CHECK(event["tokens_per_second"] > 0);
  }
}

TEST_CASE("curve.svg is drawn, probe.jsonl has a record a validation") {
  const TrainScene scene;
  scene.must_train("run");
  const std::string svg = bytes_of(scene.file("run/curve.svg"));
  CHECK(svg.find("<svg") != std::string::npos);
  CHECK(svg.find("</svg>") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  const std::vector<Json> records = log_of(scene.file("run"), "probe.jsonl");
  REQUIRE(records.size() == 3);
  for (std::size_t i = 0; i < records.size(); ++i) {
    CHECK(records[i]["format"] == "attn-demo.attention");
    CHECK(records[i]["model"]["update"] == 4 * (i + 1));
    CHECK(records[i]["source"]["text"] == "The group went home");
  }
}

TEST_CASE("the page of a run has its curve, and the next words of every moment") {
  const TrainScene scene;
  scene.must_train("run");
  const Result result =
      run_program({{"page", scene.file("run/probe.jsonl"), "--html", scene.file("film.html")}});
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  const std::string html = bytes_of(scene.file("film.html"));
  const std::size_t curves = html.find("\"curves\":[{\"first\":0,\"end\":");
  REQUIRE(curves != std::string::npos);
  CHECK(html.find("\"train\":[[", curves) != std::string::npos);
  CHECK(html.find("\"validations\":[[", curves) != std::string::npos);
  for (const Json& record : log_of(scene.file("run"), "probe.jsonl")) {
    CHECK(record["hypotheses"][0]["alternatives"]["tokens"][0].size() == 10);
  }
}

TEST_CASE("without a probe and without a dev part the newest model is kept") {
  TrainScene scene;
  scene.config["data"].erase("probe");
  scene.config["data"].erase("dev");
  scene.must_train("run");
  CHECK(bytes_of(scene.file("run/probe.jsonl")).empty());
  CHECK(updates_of(log_of(scene.file("run")), "validation").empty());
  scene.must_train("shorter", {"--set", "train.updates=11"});
  CHECK(bytes_of(scene.file("run/model/model.safetensors")) !=
        bytes_of(scene.file("shorter/model/model.safetensors")));
}

TEST_CASE("config.json in the run's folder is the config as used, and trains the same run") {
  const TrainScene scene;
  scene.must_train("run", {"--set", "train.updates=6", "--set", "train.seed=5"});
  const Json used = Json::parse(bytes_of(scene.file("run/config.json")));
  CHECK(used["train"]["updates"] == 6);
  CHECK(used["train"]["seed"] == 5);
  CHECK(used["data"]["train"]["source"] == scene.file("train.en"));
  const Result again =
      run_program({.args = {"train", scene.file("run/config.json"), "--out", scene.file("again")}});
  REQUIRE_MESSAGE(again.code == kDone, again.err);
  CHECK(bytes_of(scene.file("run/model/model.safetensors")) ==
        bytes_of(scene.file("again/model/model.safetensors")));
  const Result resumed =
      run_program({.args = {"train", scene.file("run/config.json"), "--out", scene.file("run"),
                            "--resume", "--set", "train.updates=8"}});
  CHECK_MESSAGE(resumed.code == kDone, resumed.err);
  CHECK(checkpoints_of(scene.file("run")).back() == 8);
}

TEST_CASE("the kept model translates and is evaluated") {
  const TrainScene scene;
  scene.must_train("run");
  const std::string model = scene.file("run/model");
  const Result translated =
      run_program({.args = {"translate", "--model", model}, .input = "The group went home\n"});
  CHECK(translated.code == kDone);
  CHECK(translated.err == "");
  const Result evaluated =
      run_program({.args = {"evaluate", "--model", model, "--source", scene.file("dev.en"),
                            "--target", scene.file("dev.de"), "--json", "-"}});
  REQUIRE_MESSAGE(evaluated.code == kDone, evaluated.err);
  const Json scores = Json::parse(evaluated.out);
  for (const Json& line : log_of(scene.file("run"))) {
    if (line["event"] != "validation" || !line["best"].get<bool>()) continue;
    if (line["update"] != 12) continue;
    CHECK(scores["bleu"]["score"].get<double>() == doctest::Approx(line["bleu"].get<double>()));
    CHECK(scores["chrf"]["score"].get<double>() == doctest::Approx(line["chrf"].get<double>()));
  }
  CHECK(Json::parse(bytes_of(model + "/generation_config.json"))["max_length"] == 12);
}

TEST_CASE("epochs end a run, and without validate_every each of them is validated") {
  TrainScene scene;
  scene.config["train"]["updates"] = 0;
  scene.config["train"]["epochs"] = 2;
  scene.config["train"]["validate_every"] = 0;
  scene.must_train("run");
  const std::vector<Json> log = log_of(scene.file("run"));
  const Updates epochs = updates_of(log, "epoch");
  REQUIRE(epochs.size() == 2);
  CHECK(epochs[1] == 2 * epochs[0]);
  CHECK(updates_of(log, "validation") == epochs);
  CHECK(updates_of(log, "train").back() == epochs[1]);
  std::uint64_t of_updates = 0;
  std::uint64_t of_epochs = 0;
  for (const Json& line : log) {
    if (line["event"] == "train") of_updates += line["tokens"].get<std::uint64_t>();
    if (line["event"] == "epoch") of_epochs += line["tokens"].get<std::uint64_t>();
  }
  CHECK(of_updates == of_epochs);
}

TEST_CASE("separate vocabularies, unigram pieces and an existing tokenizer") {
  TrainScene scene;
  scene.config["tokenizer"] = {{"type", "unigram"}, {"vocab_size", 60}, {"joint", false}};
  scene.config["model"]["share_encoder_decoder_embeddings"] = false;
  scene.must_train("run", {"--set", "train.updates=2"});
  CHECK_FALSE(bytes_of(scene.file("run/model/target_vocab.json")).empty());
  scene.config["tokenizer"] = {{"model", "run/tokenizer"}};
  scene.must_train("with", {"--set", "train.updates=2"});
  CHECK(bytes_of(scene.file("run/model/model.safetensors")) ==
        bytes_of(scene.file("with/model/model.safetensors")));
}

}  // namespace attn::test
