// Tests train --resume: N updates at once give the same run as k updates, any kind of end, and the
// rest.
#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>

#include "train_run.h"

namespace attn::test {
namespace {

/// A training setup that a resumed run must reproduce.
struct Variant {
  std::string name;
  Json train = Json::object();  ///< merged into the train section
  Json model = Json::object();  ///< merged into the model section
  Json tokenizer = Json::object();
  const char* threads = "1";
  const char* resumed_threads = "1";
};

const Json kDrawnCuts = {{"type", "unigram"}, {"vocab_size", 100}, {"sampling", 0.3}};

const std::vector<Variant>& variants() {
  // Large enough for matrix multiplications and the optimizer to use several threads.
  const Json wide = {{"d_model", 64}, {"encoder_ffn_dim", 200}, {"decoder_ffn_dim", 256}};
  static const std::vector<Variant> all = {
      {"as it is"},
      {"exponential average", {{"average", "exponential"}, {"average_decay", 0.9}}},
      {"average of checkpoints", {{"average", "checkpoints"}, {"average_last", 2}}},
      {"average of checkpoints, made with each validation",
       {{"average", "checkpoints"}, {"average_last", 3}, {"checkpoint_every", 4}}},
      {"accumulated batches", {{"accumulate", 2}}},
      {"all dropouts", {}, {{"attention_dropout", 0.2}, {"activation_dropout", 0.1}}},
      {"no dropout, no clipping", {{"schedule", "constant"}, {"clip_norm", 0}}, {{"dropout", 0}}},
      {.name = "other thread counts",
       .train = {{"average", "exponential"}, {"batch_tokens", 600}},
       .model = wide,
       .resumed_threads = "2"},
      {.name = "products in bfloat16",
       .train = {{"precision", "bfloat16"}, {"batch_tokens", 600}},
       .model = wide,
       .resumed_threads = "2"},
      {"validation at epochs' ends, long log intervals", {{"validate_every", 0}, {"log_every", 7}}},
      {"rare checkpoints", {{"checkpoint_every", 1000}, {"accumulate", 3}}},
      {"looked at before validations begin, with scores",
       {{"validate_every", 1000}, {"early_growth", 1.01}, {"early_scores", true}}},
      {"R-Drop", {{"r_drop", 5}, {"accumulate", 2}}},
      {.name = "R-Drop, other thread counts",
       .train = {{"r_drop", 1}, {"batch_tokens", 600}},
       .model = wide,
       .resumed_threads = "2"},
      {.name = "drawn cuts", .tokenizer = kDrawnCuts},
      {.name = "drawn cuts of byte pairs",
       .tokenizer = {{"type", "bpe"}, {"vocab_size", 100}, {"sampling", 0.1}}},
      {.name = "drawn cuts, other thread counts",
       .tokenizer = kDrawnCuts,
       .threads = "2",
       .resumed_threads = "1"},
  };
  return all;
}

void set_up(TrainScene& scene, const Variant& variant) {
  if (!variant.train.empty()) scene.config["train"].update(variant.train);
  if (!variant.model.empty()) scene.config["model"].update(variant.model);
  if (!variant.tokenizer.empty()) scene.config["tokenizer"].update(variant.tokenizer);
}

/// Resumes "stopped" up to `n` updates, trains "whole" with as many at once, and compares them.
void check_resumes(const TrainScene& scene, std::uint64_t n, const Variant& variant = {}) {
  scene.must_train("stopped",
                   {"--resume", "--set", updates(n), "--threads", variant.resumed_threads});
  scene.must_train("whole", {"--set", updates(n), "--threads", variant.threads});
  check_same_run(scene.file("whole"), scene.file("stopped"));
}

}  // namespace

TEST_CASE("a run that ended at an update goes on to more of them") {
  for (const Variant& variant : variants()) {
    INFO("variant: ", variant.name);
    TrainScene scene;
    set_up(scene, variant);
    // A run validates its last update. The whole run would have to validate update 8 as well, so
    // variants with their own validate_every are skipped.
    if (variant.train.contains("validate_every")) continue;
    scene.must_train("stopped", {"--set", updates(8), "--threads", variant.threads});
    check_resumes(scene, 12, variant);
  }
}

TEST_CASE("the validation that ends a run is one more, and changes no weight") {
  TrainScene scene;
  scene.must_train("stopped", {"--set", updates(7)});
  scene.must_train("stopped", {"--resume", "--set", updates(12)});
  scene.must_train("whole", {"--set", updates(12)});
  const CheckpointParts whole = read_checkpoint(newest_checkpoint_of(scene.file("whole")));
  const CheckpointParts stopped = read_checkpoint(newest_checkpoint_of(scene.file("stopped")));
  CHECK(whole.arrays == stopped.arrays);
  std::vector<Json> log;
  for (const Json& line : log_of(scene.file("stopped"))) {
    if (line["event"] != "validation" || line["update"] != 7) log.push_back(line);
  }
  CHECK(Json(log).dump(1) == Json(log_of(scene.file("whole"))).dump(1));
  CHECK(log_of(scene.file("stopped"), "probe.jsonl").size() == 4 + 4);
}

TEST_CASE("SIGINT and SIGTERM save the update that they came in, with exit codes 130 and 143") {
  int i = 0;
  for (const Variant& variant : variants()) {
    INFO("variant: ", variant.name);
    TrainScene scene;
    set_up(scene, variant);
    const int signal = ++i % 2 == 0 ? SIGTERM : SIGINT;
    const Result result = interrupt(scene, "stopped", i % 3 == 0 ? "update 1" : "update ", signal,
                                    {"--threads", variant.threads});
    CHECK_MESSAGE(result.code == 128 + signal, result.err);
    CHECK(result.err.find("--resume goes on") != std::string::npos);
    check_resumes(scene, checkpoints_of(scene.file("stopped")).back() + 9, variant);
  }
}

TEST_CASE("a run that is stopped while update 0 is looked at begins with that again") {
  TrainScene scene;
  scene.config["train"]["early_scores"] = true;
  scene.validate_long();
  const Result result = interrupt(scene, "stopped", "plain ppl: ", SIGINT);
  CHECK(result.code == 130);
  CHECK(checkpoints_of(scene.file("stopped")) == std::vector<std::uint64_t>{0});
  const std::vector<Json> log = log_of(scene.file("stopped"));
  REQUIRE(log.size() == 1);
  CHECK(log[0]["event"] == "end");
  CHECK(log[0]["update"] == 0);
  check_resumes(scene, 1);
}

TEST_CASE("a signal at an update that is saved and validated anyway loses neither") {
  // Every update is validated and checkpointed, so the signal cannot arrive at another kind of
  // update.
  TrainScene scene;
  scene.config["train"].update({{"average", "checkpoints"},
                                {"average_last", 3},
                                {"checkpoint_every", 1},
                                {"validate_every", 1}});
  for (int i = 0; i < 3; ++i) {
    TrainScene each;
    each.config = scene.config;
    const Result result = interrupt(each, "stopped", "update 2/", SIGINT);
    CHECK(result.code == 130);
    check_resumes(each, checkpoints_of(each.file("stopped")).back() + 3);
  }
}

TEST_CASE("kill -9 loses nothing but the updates since the last checkpoint") {
  for (const std::string moment : {"update 5/", "update 9/", "dev 8:", "update 14/"}) {
    INFO("moment: ", moment);
    const TrainScene scene;
    const Result result = interrupt(scene, "stopped", moment, SIGKILL);
    CHECK(result.code == -SIGKILL);
    check_resumes(scene, checkpoints_of(scene.file("stopped")).back() + 5);
    for (const std::string& name : listing(scene.file("stopped"))) {
      CHECK_MESSAGE(name.find("tmp") == std::string::npos, name);
    }
  }
}

TEST_CASE("half-written files of a killed run go when it goes on") {
  const TrainScene scene;
  scene.must_train("run");
  const std::vector<std::string> before = listing(scene.file("run"));
  for (const std::string name :
       {"curve.svg.attn-demo-tmp-0", "model/model.safetensors.attn-demo-tmp-1",
        "checkpoints/checkpoint-000000015.attn-demo-tmp-0"}) {
    scene.directory.write("run/" + name, "half");
  }
  scene.must_train("run", {"--resume", "--set", updates(15)});
  const std::vector<std::string> after = listing(scene.file("run"));
  CHECK(after.size() == before.size());  // only two checkpoints are kept
  for (const std::string& name : after) CHECK_MESSAGE(name.find("tmp") == std::string::npos, name);
}

TEST_CASE("a run is stopped and goes on many times") {
  const TrainScene scene;
  for (int i = 0; i < 4; ++i) {
    // The first run may get its signal late; then the second begins at any update.
    const Result result = i == 0 ? interrupt(scene, "stopped", "update 3/", SIGINT)
                                 : interrupt(scene, "stopped", "update ",
                                             i % 2 == 0 ? SIGINT : SIGKILL, {"--resume"});
    CHECK(result.code == (i % 2 == 0 ? 130 : -SIGKILL));
  }
  check_resumes(scene, checkpoints_of(scene.file("stopped")).back() + 5);
}

TEST_CASE("a damaged checkpoint is passed over, and with the older one the run is the same") {
  const TrainScene scene;
  scene.must_train("stopped", {"--set", updates(9)});
  const std::string newest = newest_checkpoint_of(scene.file("stopped"));
  std::filesystem::resize_file(newest, std::filesystem::file_size(newest) - 1);
  const Result result = scene.train("stopped", {"--resume", "--set", updates(9)});
  CHECK_MESSAGE(result.code == kDone, result.err);
  CHECK(result.err.find("note: " + newest + ": damaged") != std::string::npos);
  check_resumes(scene, 12);
}

TEST_CASE("where all checkpoints are damaged nothing is touched") {
  const TrainScene scene;
  scene.must_train("run", {"--set", updates(9)});
  for (const std::uint64_t update : checkpoints_of(scene.file("run"))) {
    scene.directory.write("run/checkpoints/checkpoint-00000000" + std::to_string(update), "short");
  }
  const auto before = snapshot_of(scene.file("run"));
  const Result result = scene.train("run", {"--resume"});
  CHECK(result.code == kInput);
  CHECK(result.err.find("only damaged checkpoints") != std::string::npos);
  CHECK(snapshot_of(scene.file("run")) == before);
}

TEST_CASE("a finished run resumed ends at once") {
  const TrainScene scene;
  scene.must_train("run");
  const auto before = snapshot_of(scene.file("run"));
  scene.must_train("run", {"--resume"});
  scene.must_train("run", {"--resume", "--set", "train.updates=2"});
  scene.must_train("run", {"--resume"});
  CHECK(snapshot_of(scene.file("run")) == before);
}

TEST_CASE("a run goes on by its own config, which stays as somebody has written it") {
  const TrainScene scene;
  scene.must_train("run");
  const std::string own = scene.file("run/config.json");
  const std::string commented = "// mine\n" + bytes_of(own);
  scene.directory.write("run/config.json", commented);
  const std::vector<std::string> args = {"train", own, "--out", scene.file("run"), "--resume"};
  const Result result = run_program({.args = args});
  CHECK_MESSAGE(result.code == kDone, result.err);
  CHECK(bytes_of(own) == commented);
  std::vector<std::string> changed = args;
  changed.insert(changed.end(), {"--set", updates(13)});
  CHECK(run_program({.args = changed}).code == kDone);
  CHECK(Json::parse(bytes_of(own))["train"]["updates"] == 13);
}

TEST_CASE("--resume into an empty or a new folder begins, and says so") {
  const TrainScene scene;
  std::filesystem::create_directory(scene.file("empty"));
  scene.must_train("whole");
  for (const std::string out : {"new", "empty", "deep/er"}) {
    const Result result = scene.train(out, {"--resume"});
    CHECK_MESSAGE(result.code == kDone, result.err);
    CHECK(result.err.find("note: no checkpoint yet in") != std::string::npos);
    check_same_run(scene.file("whole"), scene.file(out));
  }
}

TEST_CASE("what was begun with another config and has no checkpoint yet is begun anew") {
  TrainScene scene;
  scene.config["train"]["checkpoint_every"] = 1000000;
  const Result result = interrupt(scene, "run", "update 2/", SIGKILL, {"--threads", "1"});
  CHECK(result.code == -SIGKILL);
  CHECK(checkpoints_of(scene.file("run")).empty());
  scene.config["tokenizer"]["vocab_size"] = 30;
  scene.must_train("run", {"--resume"});
  scene.must_train("whole");
  check_same_run(scene.file("whole"), scene.file("run"));
}

}  // namespace attn::test
