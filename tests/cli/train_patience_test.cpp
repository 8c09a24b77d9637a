// Tests early stopping of train on each metric, under each learning rate schedule.
#include <doctest/doctest.h>

#include "train_run.h"

namespace attn::test {
namespace {

double score_of(const Json& line, const std::string& metric) {
  const double figure = line[metric].get<double>();
  return metric == "loss" ? -figure : figure;
}

/// Reads the validations in the log and returns the update after which `patience` of them in a row
/// were no better than the best; 0 if that never happened.
std::uint64_t expected_end(const std::vector<Json>& log, const std::string& metric, int patience) {
  double best = -1e300;
  int waited = 0;
  for (const Json& line : log) {
    if (line["event"] != "validation") continue;
    const bool better = score_of(line, metric) > best;
    CHECK(line["best"] == better);
    if (better) best = score_of(line, metric);
    waited = better ? 0 : waited + 1;
    if (waited == patience) return line["update"].get<std::uint64_t>();
  }
  return 0;
}

}  // namespace

TEST_CASE("patience ends a run after the right validation, by each metric and schedule") {
  for (const std::string metric : {"loss", "bleu", "chrf"}) {
    for (const std::string schedule : {"inverse_sqrt", "constant", "linear", "cosine"}) {
      INFO("metric: ", metric);
      INFO("schedule: ", schedule);
      TrainScene scene;
      scene.config["train"].update({{"metric", metric},
                                    {"schedule", schedule},
                                    {"learning_rate", 0.5},  // too high, so scores go up and down
                                    {"updates", 600},
                                    {"validate_every", 3},
                                    {"checkpoint_every", 1000},
                                    {"patience", 3}});
      scene.must_train("run");
      const std::vector<Json> log = log_of(scene.file("run"));
      const std::uint64_t end = expected_end(log, metric, 3);
      CHECK(end > 0);
      CHECK(log[log.size() - 2]["event"] == "validation");
      CHECK(log[log.size() - 2]["update"] == end);
      CHECK(log.back()["event"] == "end");
      CHECK(log.back()["reason"] == "patience");
      CHECK(checkpoints_of(scene.file("run")) == std::vector<std::uint64_t>{end});
    }
  }
}

TEST_CASE("patience alone ends a run, and more of it lets a finished run go on") {
  TrainScene scene;
  scene.config["train"].update({{"updates", 0}, {"learning_rate", 0.5}, {"patience", 1}});
  scene.must_train("run");
  const std::uint64_t end = expected_end(log_of(scene.file("run")), "loss", 1);
  CHECK(checkpoints_of(scene.file("run")).back() == end);
  scene.config["train"]["patience"] = 3;
  scene.must_train("run", {"--resume"});
  scene.must_train("whole");
  CHECK(expected_end(log_of(scene.file("whole")), "loss", 3) > end);
  check_same_run(scene.file("whole"), scene.file("run"));
}

TEST_CASE("the kept model is that of the best validation") {
  TrainScene scene;
  scene.config["train"].update({{"learning_rate", 0.5}, {"validate_every", 1}, {"updates", 20}});
  scene.must_train("run");
  std::uint64_t best = 0;
  std::uint64_t last = 0;
  for (const Json& line : log_of(scene.file("run"))) {
    if (line["event"] != "validation") continue;
    last = line["update"].get<std::uint64_t>();
    if (line["best"].get<bool>()) best = last;
  }
  REQUIRE(best > 0);
  REQUIRE(best < last);  // otherwise the test is meaningless
  scene.must_train("until", {"--set", updates(best)});
  const bool same = bytes_of(scene.file("run/model/model.safetensors")) ==
                    bytes_of(scene.file("until/model/model.safetensors"));
  CHECK(same);
}

}  // namespace attn::test
