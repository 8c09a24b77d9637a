// Tests translate and evaluate with several --model options.
#include <doctest/doctest.h>

#include "bad_input.h"
#include "base/files/files.h"

namespace attn::test {
namespace {

const std::string kText = "The group went home\nWe went\n";

/// Two models with the same vocabulary but different weights and shapes.
struct EnsembleScene {
  EnsembleScene() {
    one = make("one", {});
    two = make("two", {"--seed", "8", "--set", "model.d_model=24"});
  }
  std::string make(const std::string& name, std::vector<std::string> more) const {
    const std::string made = directory.path() + "/" + name;
    more.insert(more.begin(), {"init", "--config", demo_config(), "--out", made, "--set",
                               "decode.max_length=9", "--set", "decode.num_beams=2"});
    const Result result = run_program({.args = more});
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    return made;
  }
  Result translate(std::vector<std::string> more) const {
    more.insert(more.begin(), "translate");
    return run_program({.args = std::move(more), .input = kText});
  }
  TemporaryDirectory directory;
  std::string one, two;
};

}  // namespace

TEST_CASE("a model twice translates as alone; another one beside it changes the translation") {
  const EnsembleScene scene;
  const std::vector<std::string> list{"--n-best", "2"};
  const auto run = [&](std::vector<std::string> models) {
    models.insert(models.end(), list.begin(), list.end());
    const Result result = scene.translate(models);
    CHECK_MESSAGE(result.code == kDone, result.err);
    return result.out;
  };
  const std::string alone = run({"--model", scene.one});
  CHECK(run({"--model", scene.one, "--model", scene.one}) == alone);
  CHECK(run({"--model", scene.one, "--model", scene.two}) != alone);
  CHECK(run({"--model", scene.one, "--model", scene.two}) ==
        run({"--model", scene.two, "--model", scene.one}));
}

TEST_CASE("maps are the first model's, or those of --maps-of") {
  const EnsembleScene scene;
  const auto record = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args{"--model", scene.one, "--model", scene.two, "--json", "-"};
    args.insert(args.end(), more.begin(), more.end());
    const Result result = scene.translate(args);
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    return Json::parse(lines_of(result.out).front());
  };
  const Json first = record({}), second = record({"--maps-of", "2"});
  CHECK(first["model"]["name"] == scene.one);
  CHECK(second["model"]["name"] == scene.two);
  CHECK(first["model"]["ensemble"] == Json({scene.one, scene.two}));
  CHECK(second["model"]["ensemble"] == first["model"]["ensemble"]);
  CHECK(second == record({"--maps-of", scene.two}));
  CHECK(first == record({"--maps-of", "1"}));
  CHECK(first["hypotheses"][0]["ids"] == second["hypotheses"][0]["ids"]);
  CHECK(first["hypotheses"][0]["score"] == second["hypotheses"][0]["score"]);
  CHECK(first["hypotheses"][0]["log_probs"] != second["hypotheses"][0]["log_probs"]);
  CHECK(second["model"]["d_model"] == 24);
  const Result alone = scene.translate({"--model", scene.one, "--json", "-"});
  CHECK_FALSE(Json::parse(lines_of(alone.out).front())["model"].contains("ensemble"));
}

TEST_CASE("evaluate scores what the models translate together") {
  const EnsembleScene scene;
  const std::string source = scene.directory.write("a.en", kText);
  const std::string target = scene.directory.write("a.de", "Die Gruppe ging\nWir\n");
  const std::string out = scene.directory.path() + "/out.de";
  const Result result =
      run_program({.args = {"evaluate", "--model", scene.one, "--model", scene.two, "--source",
                            source, "--target", target, "--output", out, "--json", "-"}});
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  CHECK(read_file(out) == scene.translate({"--model", scene.one, "--model", scene.two}).out);
  CHECK(result.out.find(scene.one + " + " + scene.two) != std::string::npos);
}

TEST_CASE("what several models do not go with, and which cannot go together") {
  const EnsembleScene scene;
  const std::vector<std::string> both{"translate", "--model", scene.one, "--model", scene.two};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), both.begin(), both.end());
    return more;
  };
  ModelFiles other = ModelFiles::good();
  Json vocabulary = other.json("vocab.json");
  std::swap(vocabulary["▁group"], vocabulary["▁went"]);
  other.files["vocab.json"] = vocabulary.dump();
  other.files.erase("SHA256SUMS");
  const std::string swapped = other.write(scene.directory, "swapped");
  ModelFiles ends = ModelFiles::good();
  ends.set("generation_config.json", "decoder_start_token_id", 5);
  const std::string started = ends.write(scene.directory, "started");
  check_all({
      {"a given translation",
       with({"--target", "Die", "The"}),
       kUsage,
       {"several --model cannot be combined with --target; give one of them"}},
      {"an experiment",
       with({"--without", "cross:0:0", "The"}),
       kUsage,
       {"several --model cannot be combined with --without, --force and --swap"}},
      {"no such model of the maps",
       with({"--maps-of", "3", "The"}),
       kUsage,
       {"--maps-of 3: expected 1 to 2, or one of the --model directories"}},
      {"the maps of one",
       {"translate", "--model", scene.one, "--maps-of", "1", "The"},
       kUsage,
       {"--maps-of needs several --model"}},
      {"random weights beside them",
       with({"--config", "{demo}", "The"}),
       kUsage,
       {"--model, --config and --preset exclude each other"}},
      {"heads of several",
       {"evaluate", "--model", scene.one, "--model", scene.two, "--report", "--source", "{dir}/a",
        "--target", "{dir}/b"},
       kUsage,
       {"--report is about the heads of one --model; 2 were given"}},
      {"another vocabulary",
       {"translate", "--model", scene.one, "--model", swapped, "The"},
       kInput,
       {scene.one + " and " + swapped + ": source piece ",
        "models that translate together share one vocabulary"}},
      {"another start",
       {"translate", "--model", scene.one, "--model", started, "The"},
       kInput,
       {scene.one + " has decoder_start_token_id 132, and " + started + " has 5"}},
      {"an explanation of two",
       {"explain", "The", "--model", scene.one, "--model", scene.two},
       kUsage,
       {"--model"}},
  });
}

}  // namespace attn::test
