// Tests that every end of a training run names its reason, on stderr and in train.jsonl.
#include <doctest/doctest.h>

#include <csignal>

#include "train_run.h"

namespace attn::test {
namespace {

/// Returns the run's only "end" line, which must be the last one.
Json end_of(const TrainScene& scene) {
  const std::vector<Json> log = log_of(scene.file("run"));
  std::size_t ends = 0;
  for (const Json& line : log) ends += line["event"] == "end" ? 1U : 0U;
  CHECK(ends == 1);
  REQUIRE(log.back()["event"] == "end");
  return log.back();
}

void check_end(const Json& settings, const std::string& reason, const std::string& message) {
  INFO(reason);
  TrainScene scene;
  scene.config["train"].update(settings);
  const Result result = scene.train("run");
  CHECK(result.code == kDone);
  CHECK_MESSAGE(result.err.find(message) != std::string::npos, result.err);
  const Json end = end_of(scene);
  CHECK(end["reason"] == reason);
  CHECK(end["update"] == checkpoints_of(scene.file("run")).back());
}

}  // namespace

TEST_CASE("updates, epochs, patience and time are named as what ended a run") {
  check_end({{"updates", 5}}, "updates",
            "ended at update 5 of 5 by updates: 5 updates made (train.updates)\n");
  check_end({{"updates", 0}, {"epochs", 1}}, "epochs", " by epochs: 1 epoch made (train.epochs)\n");
  check_end({{"updates", 900}, {"learning_rate", 0.5}, {"patience", 2}}, "patience",
            " of 900 by patience: 2 validations in a row found no better model (train.patience)\n");
  check_end({{"updates", 100000000}, {"minutes", 0.005}}, "time",
            " of 100000000 by time: 0.005 minutes have passed (train.minutes)\n");
  check_end({{"updates", 0}, {"minutes", 0.005}}, "time", "(train.minutes)\n");
}

TEST_CASE("a signal is named, and the resumed run replaces its line") {
  const TrainScene scene;
  const Result result = interrupt(scene, "run", "update 3/", SIGTERM);
  CHECK(result.code == 128 + SIGTERM);
  CHECK_MESSAGE(result.err.find(" by signal: 15 (Terminated)\n") != std::string::npos, result.err);
  CHECK(end_of(scene)["reason"] == "signal");
  const std::uint64_t more = end_of(scene)["update"].get<std::uint64_t>() + 3;
  scene.must_train("run", {"--resume", "--set", updates(more)});
  CHECK(end_of(scene)["reason"] == "updates");
  CHECK(end_of(scene)["update"] == more);
}

TEST_CASE("a run of one update without a warm-up learns under every schedule") {
  for (const std::string schedule : {"inverse_sqrt", "constant", "linear", "cosine"}) {
    INFO(schedule);
    TrainScene scene;
    scene.config["train"].update({{"updates", 1},
                                  {"warmup_updates", 0},
                                  {"learning_rate", 0.01},
                                  {"schedule", schedule},
                                  {"log_every", 1}});
    scene.must_train("run");
    for (const Json& line : log_of(scene.file("run"))) {
      if (line["event"] == "train") CHECK(line["learning_rate"] == 0.01);
    }
  }
}

}  // namespace attn::test
