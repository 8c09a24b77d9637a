// Tests train --from: a run that begins with a model directory's weights and tokenizer.
#include <doctest/doctest.h>

#include <filesystem>

#include "bad_training.h"
#include "base/files/files.h"

namespace attn::test {
namespace {

namespace fs = std::filesystem;

/// A scene in which "first/model" was trained.
struct FromScene : TrainScene {
  FromScene() { must_train("first"); }
  std::string model() const { return file("first/model"); }
  std::vector<std::string> from(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"--from", model()};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

}  // namespace

TEST_CASE("--from begins with the weights of the directory, and keeps its tokenizer") {
  FromScene scene;
  // The steps are too small to change a float, so the weights must come out unchanged.
  scene.config["train"].update({{"updates", 1}, {"learning_rate", 1e-30}, {"average", "none"}});
  scene.config["tokenizer"] = {{"type", "word"}, {"vocab_size", 90}};
  const Result result = scene.train("second", scene.from());
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  CHECK(result.err.find("section tokenizer is not used") != std::string::npos);
  for (const std::string name : {"model.safetensors", "config.json", "vocab.json", "source.spm"}) {
    CHECK_MESSAGE(
        bytes_of(scene.file("first/model/" + name)) == bytes_of(scene.file("second/model/" + name)),
        name);
  }
  CHECK_FALSE(fs::exists(scene.file("second/tokenizer")));
}

TEST_CASE("--from keeps names of special pieces and the tasks that the directory's files say") {
  FromScene scene;
  const auto file = [&](const char* name) { return scene.model() + "/" + name; };
  const Json pieces = Json::parse(bytes_of(file("vocab.json")));
  Json vocabulary = Json::object();
  for (const auto& [piece, id] : pieces.items()) {
    vocabulary[piece == "<pad>" ? "[PAD]" : piece] = id;
  }
  Json settings = Json::parse(bytes_of(file("tokenizer_config.json")));
  settings.erase("pad_token");
  write_file(file("vocab.json"), vocabulary.dump());
  write_file(file("tokenizer_config.json"), settings.dump());
  write_file(file("special_tokens_map.json"), R"({"pad_token": "[PAD]"})");
  Json config = Json::parse(bytes_of(file("config.json")));
  const Json tasks = {{"a", {{"prefix", "to German: "}}}};
  config["task_specific_params"] = tasks;
  write_file(file("config.json"), config.dump());
  scene.must_train("second", scene.from());
  CHECK(Json::parse(bytes_of(scene.file("second/model/config.json")))["task_specific_params"] ==
        tasks);
  CHECK(bytes_of(scene.file("second/model/special_tokens_map.json")) ==
        bytes_of(file("special_tokens_map.json")));
  const Result result = run_program(
      {.args = {"translate", "--model", scene.file("second/model"), "--show", "none", "home"}});
  CHECK_MESSAGE(result.code == kDone, result.err);
}

TEST_CASE("--from needs neither the section model nor the section tokenizer; dropout may change") {
  FromScene scene;
  scene.config.erase("tokenizer");
  scene.config["model"] = {{"dropout", 0.0}};
  scene.must_train("second", scene.from());
  const Json config = Json::parse(bytes_of(scene.file("second/model/config.json")));
  CHECK(config["d_model"] == 8);
  CHECK(config["dropout"] == 0.0);
  // 12 updates from random weights must end with a higher loss than a start from trained weights
  // begins with.
  const auto first_loss = [&](const std::string& run) {
    return log_of(scene.file(run)).front()["loss"].get<double>();
  };
  CHECK(first_loss("second") < first_loss("first"));
}

TEST_CASE("--from keeps how long a line the model has learned, unless the config says") {
  FromScene scene;
  scene.config["decode"]["longest_source"] = 9;
  scene.must_train("second", scene.from());
  scene.config["decode"].erase("longest_source");
  scene.must_train("third", {"--from", scene.file("second/model")});
  const Json kept = Json::parse(bytes_of(scene.file("third/model/generation_config.json")));
  CHECK(kept["longest_source"] == 9);
}

TEST_CASE("--from, stopped and resumed, is the run that was not stopped") {
  FromScene scene;
  scene.must_train("stopped", scene.from({"--set", updates(7)}));
  scene.must_train("stopped", scene.from({"--resume", "--set", updates(8)}));
  scene.must_train("whole", scene.from({"--set", updates(8)}));
  const std::string stopped = newest_checkpoint_of(scene.file("stopped"));
  const std::string whole = newest_checkpoint_of(scene.file("whole"));
  CHECK(read_checkpoint(stopped).arrays == read_checkpoint(whole).arrays);
}

TEST_CASE("--from wants a model directory") {
  check_bad_training(
      {"nothing there", kSystem, {"nothing: no such model directory"}, {}, {"--from", "nothing"}});
}

TEST_CASE("a run goes on only from the model that it began with") {
  FromScene scene;
  scene.must_train("second", scene.from());
  const std::vector<std::pair<std::string, std::string>> before = snapshot_of(scene.file("second"));
  const Result without = scene.train("second", {"--resume", "--set", updates(20)});
  CHECK(without.code == kInput);
  CHECK_MESSAGE(without.err.find("give the same --from") != std::string::npos, without.err);
  CHECK(snapshot_of(scene.file("second")) == before);

  scene.config["train"]["seed"] = 2;
  scene.must_train("other");
  scene.config["train"].erase("seed");
  const Result other = scene.train(
      "second", {"--from", scene.file("other/model"), "--resume", "--set", updates(20)});
  CHECK(other.code == kInput);
  CHECK_MESSAGE(other.err.find("from was \"sha256:") != std::string::npos, other.err);
  CHECK(snapshot_of(scene.file("second")) == before);
}

TEST_CASE("a shape that the weights do not have is refused by its key") {
  FromScene scene;
  const std::vector<std::string> before = listing(scene.directory.path());
  for (const auto& refused :
       {std::pair{"model.d_model=16", "model.d_model is 16, and the model in"},
        {"model.hidden_size=16", "has 8; weights keep their shape"},
        {"model.encoder_layers=2", "model.encoder_layers is 2"},
        {"model.activation_function=gelu", "model.activation_function is \"gelu\""},
        {"model.scale_embedding=false", "has true"}}) {
    const char *override = refused.first, *part = refused.second;
    INFO(override);
    if (std::string(override).find("hidden") != std::string::npos) {
      scene.config["model"].erase("d_model");
    }
    const Result result = scene.train("second", scene.from({"--set", override}));
    CHECK(result.code == kInput);
    CHECK_MESSAGE(result.err.find(part) != std::string::npos, result.err);
    CHECK_FALSE(fs::exists(scene.file("second")));
    scene.config["model"]["d_model"] = 8;
  }
}

TEST_CASE("the model that a run goes on from is not its output") {
  const FromScene scene;
  const std::vector<std::pair<std::string, std::string>> before = snapshot_of(scene.file("first"));
  const Result result = scene.train("first", scene.from({"--resume", "--set", updates(20)}));
  CHECK(result.code == kUsage);
  CHECK_MESSAGE(result.err.find("--from") != std::string::npos, result.err);
  CHECK(snapshot_of(scene.file("first")) == before);
}

}  // namespace attn::test
