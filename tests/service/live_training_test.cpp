// Tests that a live training has the same numbers as the run that `train` makes.
#include "service/training/live_training.h"

#include <doctest/doctest.h>

#include <atomic>
#include <initializer_list>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/sha256.h"
#include "base/strings/utf8.h"
#include "service/training/experiment_setup.h"
#include "service/training/training_run.h"
#include "temporary_directory.h"
#include "train/run/checkpoint.h"

using namespace attn;

namespace {

const std::string kToy = std::string(ATTN_SOURCE_DIR) + "/configs/toy.json";
constexpr std::uint64_t kUpdates = 60;

class Silent : public RunListener {
 public:
  using RunListener::RunListener;
  void updated(const UpdateMetrics&) override {}
  void validated(const ValidationMetrics&) override {}
  void say(const std::string&) override {}
};

class Alone : public TrainingFrontEnd {
 public:
  std::unique_ptr<RunListener> on_start(const std::string& directory, LossNames) override {
    return std::make_unique<Silent>(directory);
  }
  const std::atomic<int>& stop() override { return never_; }

 private:
  std::atomic<int> never_{0};
};

/// Losses and validations of a run's train.jsonl, in the form that live training reports them.
struct Told {
  Json losses = Json::array();
  Json looks = Json::array();
};

Told told_by(const std::string& log) {
  Told told;
  for (const std::string_view line : split_lines(log)) {
    const Json event = Json::parse(line);
    const std::string kind = event["event"];
    if (kind == "train") told.losses.push_back({event["update"], event["loss"]});
    if (kind != "early" && kind != "validation") continue;
    told.looks.push_back({event["update"], event["loss"], event["bleu"], event["chrf"]});
  }
  return told;
}

std::string weights_of(const std::string& run) {
  std::vector<std::string> notes;
  const auto checkpoint = newest_checkpoint(run + "/checkpoints", notes);
  REQUIRE(checkpoint);
  const std::string bytes = read_file(checkpoint->path);
  // The first line is followed by eight bytes with the header's length, and then the header.
  const std::size_t at = bytes.find('\n') + 1;
  std::size_t header = 0;
  for (std::size_t i = 8; i-- > 0;)
    header = header << 8 | static_cast<unsigned char>(bytes[at + i]);
  const Json names = Json::parse(bytes.substr(at + 8, header))["arrays"];
  REQUIRE(names[0][0] == "weights");
  const std::size_t floats = names[0][1];
  return sha256_hex(std::string_view(bytes).substr(at + 8 + header, floats * sizeof(float)));
}

}  // namespace

TEST_CASE("so many updates at a time, with looks and questions between them, are one run") {
  const test::TemporaryDirectory scene;
  const std::string updates = std::to_string(kUpdates);
  Alone owner;
  TrainingRequest request;
  request.config = kToy;
  request.out = scene.file("run");
  request.threads = 1;
  request.overrides = {"train.updates=" + updates, "train.log_every=1"};
  run_training(request, owner);
  const Told expected = told_by(read_file(scene.file("run") + "/train.jsonl"));
  REQUIRE(expected.losses.size() == kUpdates);
  REQUIRE(expected.looks.size() > 10);

  const ExperimentBundle bundle = bundle_experiment(kToy, scene.path());
  CHECK(bundle.name == "toy");
  CHECK(bundle.pairs == 582);
  CHECK(bundle.files.size() == 9);
  LiveTraining training(scene.file("toy.json"));
  Told told;
  Json last;
  std::uint64_t update = 0;
  for (const std::uint64_t step : std::initializer_list<std::uint64_t>{0, 1, 2, 30, 27}) {
    const Json page = Json::parse(training.answer({{"updates", step}}));
    last = page["live"]["training"];
    update += step;
    CHECK(last["update"] == update);
    CHECK(page["records"].size() == 1);
    CHECK(page["records"][0]["model"]["update"] == update);
    for (const Json& loss : last["losses"]) told.losses.push_back(loss);
    for (const Json& look : last["looks"]) told.looks.push_back(look);
    CHECK(training.model(0).transformer != nullptr);
  }
  CHECK(last["updates"] == 1500);
  CHECK(last["finished"] == false);
  CHECK(told.losses == expected.losses);
  CHECK(told.looks == expected.looks);
  CHECK(last["weights"] == weights_of(scene.file("run")));
}

TEST_CASE("a watched training refuses what is no number of updates, and a tokenizer to be made") {
  const test::TemporaryDirectory scene;
  bundle_experiment(kToy, scene.path());
  LiveTraining training(scene.file("toy.json"));
  CHECK_THROWS_WITH_AS(training.answer({{"update", 1}}),
                       "the request: unknown key update; a training run only accepts updates",
                       UsageError);
  for (const Json& wrong : {Json(-1), Json(1.5), Json("1"), Json(100'001)}) {
    CHECK_THROWS_WITH_AS(training.answer({{"updates", wrong}}),
                         "updates: expected a whole number from 0 to 100000", UsageError);
  }
  CHECK(Json::parse(training.answer(Json::object()))["live"]["training"]["update"] == 0);
  CHECK_THROWS_AS(LiveTraining{kToy}, InputError);
}
