// Tests the requirements of train on a folder for a new run and for --resume, and what failures
// leave there.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "train_run.h"

namespace attn::test {
namespace {

namespace fs = std::filesystem;

/// Checks that the run is refused with this code and message, and that no byte of its folder
/// changes.
void check_refused(const TrainScene& scene, const std::string& out,
                   const std::vector<std::string>& more, int code, const std::string& part) {
  const auto before = snapshot_of(scene.directory.path());
  const Result result = scene.train(out, more);
  CHECK_MESSAGE(result.code == code, result.err);
  CHECK_MESSAGE(result.err.find(part) != std::string::npos, "expected ", part, " in ", result.err);
  auto after = snapshot_of(scene.directory.path());
  const auto without_config = [](auto& files) {
    std::erase_if(files, [](const auto& file) { return file.first == "experiment.json"; });
    return files;
  };
  auto old = before;
  CHECK((without_config(after) == without_config(old)));
}

struct OtherConfig {
  std::vector<std::string> set;
  std::string part;  ///< of the message
};

/// Limits the size of every file that the program writes.
std::function<void()> largest_file(std::uint64_t bytes) {
  return [bytes] {
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
}

}  // namespace

TEST_CASE("a second run into a folder is refused, and the first one goes on unharmed") {
  const TrainScene scene;
  Program first(scene.request("run", {"--set", updates(1'000'000'000)}));
  REQUIRE(first.wait_for_error("update 4/"));
  for (const auto& more : {std::vector<std::string>{}, {"--resume"}}) {
    const Result second = scene.train("run", more);
    CHECK(second.code == kSystem);
    CHECK_MESSAGE(second.err.find("another training run is writing here") != std::string::npos,
                  second.err);
  }
  first.signal(SIGINT);
  CHECK(first.finish().code == 130);
  const std::uint64_t n = checkpoints_of(scene.file("run")).back() + 3;
  scene.must_train("run", {"--resume", "--set", updates(n)});
  scene.must_train("whole", {"--set", updates(n)});
  check_same_run(scene.file("whole"), scene.file("run"));
}

TEST_CASE("a folder with other files is refused, with --resume too") {
  const TrainScene scene;
  fs::create_directory(scene.file("other"));
  scene.directory.write("other/config.json", "{\"mine\": true}");
  check_refused(scene, "other", {}, kSystem, "is not empty (it holds config.json)");
  check_refused(scene, "other", {"--resume"}, kSystem, "holds config.json, and no run to resume");
  scene.directory.write("file", "");
  check_refused(scene, "file", {}, kSystem, "cannot make the directory");
  check_refused(scene, "file/deeper", {"--resume"}, kSystem, "cannot make the directory");
  scene.must_train("run");
  check_refused(scene, "run", {}, kSystem, "--resume goes on with a run");
}

TEST_CASE("--resume with another config is refused, naming the difference") {
  const std::vector<OtherConfig> others = {
      {{"model.d_model=16"}, "model.d_model was 8 and is 16"},
      {{"model.dropout=0.2"}, "model.dropout was 0.1 and is 0.2"},
      {{"model.encoder_layers=2"}, "model.encoder_layers was 1 and is 2"},
      {{"model.attention_dropout=0.3"}, "model.attention_dropout was 0.0 and is 0.3"},
      {{"model.activation_function=gelu"}, "model.activation_function was \"relu\""},
      {{"tokenizer.vocab_size=60"}, "tokenizer.vocab_size was 200 and is 60"},
      {{"tokenizer.type=unigram"}, "tokenizer.type was \"word\" and is \"unigram\""},
      {{"train.seed=2"}, "train.seed was 1 and is 2"},
      {{"train.learning_rate=0.5"}, "train.learning_rate was 0.02 and is 0.5"},
      {{"train.batch_tokens=100"}, "train.batch_tokens was 200 and is 100"},
      {{"train.schedule=constant"}, "train.schedule was \"inverse_sqrt\" and is \"constant\""},
      {{"train.schedule=linear"}, "train.schedule"},
      {{"train.r_drop=1"}, "train.r_drop was 0.0 and is 1"},
      {{"train.validate_every=2"}, "train.validate_every was 4 and is 2"},
      {{"train.average=exponential"}, "train.average was \"none\" and is \"exponential\""},
      {{"train.metric=bleu"}, "train.metric was \"loss\" and is \"bleu\""},
      {{"train.precision=bfloat16"}, "train.precision was \"float32\" and is \"bfloat16\""},
      {{"train.adam_beta1=0.5"}, "train.adam_beta1 was 0.9 and is 0.5"},
      {{"decode.num_beams=2"}, "decode.num_beams was null and is 2"},
      {{"data.probe=We went home"}, "probe was \"The group went home\" and is \"We went home\""},
      {{"data.dev.source=train.en", "data.dev.target=train.de"}, "data.dev.source was \"sha256:"},
  };
  const TrainScene scene;
  scene.must_train("run");
  for (const OtherConfig& other : others) {
    std::vector<std::string> more = {"--resume"};
    for (const std::string& set : other.set) more.insert(more.end(), {"--set", set});
    check_refused(scene, "run", more, kInput, "cannot resume " + scene.file("run"));
    check_refused(scene, "run", more, kInput, other.part);
  }
}

TEST_CASE("--resume with another tokenizer.sampling is refused, naming both") {
  TrainScene scene;
  scene.config["tokenizer"] = {{"type", "unigram"}, {"vocab_size", 100}, {"sampling", 0.2}};
  scene.must_train("run");
  check_refused(scene, "run", {"--resume", "--set", "tokenizer.sampling=0.3"}, kInput,
                "tokenizer.sampling was 0.2 and is 0.3");
  check_refused(scene, "run", {"--resume", "--set", "tokenizer.sampling=0"}, kInput,
                "tokenizer.sampling was 0.2 and is 0");
}

TEST_CASE("--resume with what changes no number goes on") {
  const TrainScene scene;
  scene.must_train("run");
  scene.must_train(
      "run", {"--resume", "--set", "train.adam_beta1=0.9", "--set", "train.patience=9", "--set",
              "train.log_every=5", "--set", "train.checkpoint_every=50", "--set", "train.epochs=40",
              "--set", "train.seed=1", "--set", updates(15)});
  CHECK(checkpoints_of(scene.file("run")).back() == 15);
  CHECK(Json::parse(bytes_of(scene.file("run/config.json")))["train"]["log_every"] == 5);
}

TEST_CASE("--resume with a changed line of the data or another tokenizer is refused") {
  TrainScene scene;
  scene.must_train("run");
  const std::string text = bytes_of(scene.file("train.de"));
  scene.directory.write("train.de", "x" + text);
  check_refused(scene, "run", {"--resume"}, kInput, "data.train.target was \"sha256:");
  scene.directory.write("train.de", text);
  const std::string vocabulary = bytes_of(scene.file("run/tokenizer/vocab.json"));
  scene.directory.write("run/tokenizer/vocab.json", vocabulary + " ");
  check_refused(scene, "run", {"--resume"}, kInput, "tokenizer.vocab.json was \"sha256:");
  scene.directory.write("run/tokenizer/vocab.json", vocabulary);
  scene.config["tokenizer"] = {{"model", demo_tokenizer()}};
  check_refused(scene, "run", {"--resume"}, kInput, "cannot resume");
  scene.config["tokenizer"] = {{"type", "word"}, {"vocab_size", 200}};
  scene.must_train("run", {"--resume", "--set", updates(13)});
}

TEST_CASE("a full disk ends training, and what was saved is intact") {
  TrainScene scene;
  scene.config["model"].update({{"d_model", 16}, {"encoder_ffn_dim", 32}});
  scene.must_train("run", {"--set", updates(6)});
  const std::vector<std::string> more = {"--resume", "--set", updates(12)};
  const auto newest = fs::file_size(newest_checkpoint_of(scene.file("run")));
  const auto log = fs::file_size(scene.file("run/train.jsonl"));
  REQUIRE(log < newest);
  for (const std::uint64_t size : {newest - 100, log + 10}) {
    Request request = scene.request("run", more);
    request.in_child = largest_file(size);
    const Result result = run_program(request);
    CHECK_MESSAGE(result.code == kSystem, result.err);
    CHECK_MESSAGE(result.err.find("cannot write") != std::string::npos, result.err);
    CHECK(checkpoints_of(scene.file("run")) == std::vector<std::uint64_t>{3, 6});
    log_of(scene.file("run"));  // must parse, so lines are complete
  }
  scene.must_train("run", more);
  scene.must_train("whole", {"--set", updates(12)});
  // The run of six updates ended with an additional validation.
  const auto numbers = [&](const std::string& run) {
    return read_checkpoint(newest_checkpoint_of(scene.file(run))).arrays;
  };
  CHECK((numbers("whole") == numbers("run")));
  for (const std::string& name : listing(scene.file("run"))) {
    CHECK_MESSAGE(name.find("tmp") == std::string::npos, name);
  }
}

TEST_CASE("a loss that is no longer finite ends training, and the last checkpoint stays") {
  TrainScene scene;
  scene.config["model"]["activation_function"] = "gelu";
  scene.config["train"].update({{"learning_rate", 9e5},
                                {"clip_norm", 0},
                                {"warmup_updates", 0},
                                {"schedule", "constant"},
                                {"adam_beta2", 0},
                                {"checkpoint_every", 1},
                                {"early_growth", 0},
                                {"validate_every", 1000000}});
  const Result result = scene.train("run");
  REQUIRE(result.code == kInput);
  const std::vector<std::uint64_t> saved = checkpoints_of(scene.file("run"));
  REQUIRE(saved.size() == 2);
  const std::string update = std::to_string(saved.back() + 1);
  const std::string kept = std::to_string(saved.back());
  CHECK_MESSAGE(
      result.err.find("attn-demo: update " + update + ": the loss is") != std::string::npos,
      result.err);
  CHECK(result.err.find("the checkpoint of update " + kept + " is kept") != std::string::npos);
  CHECK(log_of(scene.file("run")).back()["update"] == saved.back());
  const Result again = scene.train("run", {"--resume"});
  CHECK(again.code == kInput);
  CHECK(again.err.find("update " + update + ": the loss is") != std::string::npos);
  CHECK(checkpoints_of(scene.file("run")) == saved);
}

}  // namespace attn::test
