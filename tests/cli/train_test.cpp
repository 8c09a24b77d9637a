// Tests train: the files in a run's directory, and the effects of config keys.
#include <doctest/doctest.h>

#include <cmath>
#include <regex>
#include <set>

#include "base/strings/utf8.h"
#include "train_run.h"

namespace attn::test {
namespace {

/// Checks that every number below is finite, and that there is no null, as which NaN is written.
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
  const std::string run = scene.file("run");
  const std::vector<std::string> said = lines_of(result.err);
  REQUIRE(said.size() > 3);
  CHECK(std::regex_match(
      said[said.size() - 3],
      std::regex("done: wrote " + run +
                 "/model \\(of update (4|8|12), the best on dev\\), train.jsonl, curve.svg, "
                 "probe.jsonl, config.json(, tokenizer)?, checkpoints")));
  CHECK(said[said.size() - 2] == "next: attn-demo translate --model " + run + "/model \"" +
                                     scene.config["data"]["probe"].get<std::string>() + "\"");
  CHECK(said.back() == "film: attn-demo page " + run + "/probe.jsonl --html " + run + "/film.html");
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

TEST_CASE("a run is looked at from update 0 on, more rarely each time, until validations begin") {
  const TrainScene scene;
  scene.must_train("run", {"--set", "train.validate_every=10"});
  const std::vector<Json> log = log_of(scene.file("run"));
  CHECK(log.front()["event"] == "early");
  CHECK(updates_of(log, "early") == Updates{0, 1, 2, 3, 5, 8});
  CHECK(updates_of(log, "validation") == Updates{10, 12});
  for (const Json& line : log) {
    if (line["event"] != "early") continue;
    CHECK_FALSE(line.contains("bleu"));
    CHECK_FALSE(line.contains("best"));
    CHECK(line["perplexity"].get<double>() == doctest::Approx(std::exp(line["nll"].get<double>())));
  }
  std::vector<std::uint64_t> seen;
  for (const Json& record : log_of(scene.file("run"), "probe.jsonl")) {
    seen.push_back(record["model"]["update"].get<std::uint64_t>());
    CHECK(record["hypotheses"][0]["ids"].size() <= 2 * record["source"]["ids"].size() + 10);
  }
  CHECK(seen == Updates{0, 1, 2, 3, 5, 8, 10, 12});
  // Early validations do not change the model, and the key disables them.
  scene.must_train("blind", {"--set", "train.validate_every=10", "--set", "train.early_growth=0"});
  CHECK(updates_of(log_of(scene.file("blind")), "early").empty());
  CHECK(bytes_of(scene.file("run/model/model.safetensors")) ==
        bytes_of(scene.file("blind/model/model.safetensors")));
}

TEST_CASE("early looks take scores where the config says so, and end with the first epoch") {
  const TrainScene scene;
  scene.must_train("run", {"--set", "train.validate_every=0", "--set", "train.early_scores=true",
                           "--set", "train.early_growth=1.01"});
  const std::vector<Json> log = log_of(scene.file("run"));
  const Updates epochs = updates_of(log, "epoch");
  Updates before;
  for (std::uint64_t t = 0; t < epochs.front(); ++t) before.push_back(t);
  CHECK(updates_of(log, "early") == before);
  for (const Json& line : log) {
    if (line["event"] == "early") CHECK(line["bleu"].is_number());
  }
}

TEST_CASE("what a run tells fits 80 columns, and says which loss is which") {
  TrainScene scene;
  scene.config["train"]["metric"] = "bleu";
  const Result smoothed = scene.train("run");
  REQUIRE_MESSAGE(smoothed.code == kDone, smoothed.err);
  for (const std::string& line : lines_of(smoothed.err)) {
    if (line.find(scene.file("run")) != std::string::npos) continue;
    CHECK_MESSAGE(display_width(line) <= 80, line);
  }
  for (const std::string part :
       {"smoothed loss: with label smoothing 0.1; plain ppl: perplexity without it\n",
        "dev 0: smoothed loss ", ", plain ppl ", "update 1/12 · smoothed loss ", ", chrF2 ",
        ", best\n"}) {
    CHECK_MESSAGE(smoothed.err.find(part) != std::string::npos, part);
  }
  const Result plain = scene.train("plain", {"--set", "train.label_smoothing=0"});
  CHECK(plain.err.find("dev 0: loss ") != std::string::npos);
  CHECK(plain.err.find("smooth") == std::string::npos);
  CHECK(plain.err.find("plain ppl") == std::string::npos);
}

TEST_CASE("curve.svg is drawn, probe.jsonl has a record a look") {
  const TrainScene scene;
  scene.must_train("run");
  const std::string svg = bytes_of(scene.file("run/curve.svg"));
  CHECK(svg.find("<svg") != std::string::npos);
  CHECK(svg.find("</svg>") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
  const std::vector<Json> records = log_of(scene.file("run"), "probe.jsonl");
  const Updates looks{0, 1, 2, 3, 4, 8, 12};
  REQUIRE(records.size() == looks.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    CHECK(records[i]["format"] == "attn-demo.attention");
    CHECK(records[i]["model"]["update"] == looks[i]);
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

TEST_CASE("a probe with its translation is watched reading that, from the first look to the last") {
  TrainScene scene;
  scene.config["data"]["probe_target"] = "die Gruppe ging";
  scene.must_train("run");
  std::string first;
  for (const Json& record : log_of(scene.file("run"), "probe.jsonl")) {
    CHECK(record["hypotheses"].size() == 1);
    CHECK(record["hypotheses"][0]["text"] == "die Gruppe ging");
    CHECK(record["hypotheses"][0]["ids"].size() == 4);
    const std::string weights = record["hypotheses"][0]["cross"].dump();
    CHECK(weights != first);
    first = weights;
  }
  const Result other = scene.train("run", {"--resume", "--set", "data.probe_target=die"});
  CHECK(other.code == kInput);
  CHECK(other.err.find("probe_target was \"die Gruppe ging\" and is \"die\"") != std::string::npos);
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
