// Tests models with the program's own parts on the command line: they are trained, used for
// translation, shown, explained and converted; and what is refused.
#include <doctest/doctest.h>

#include <algorithm>

#include "bad_training.h"
#include "base/files/files.h"

namespace attn::test {
namespace {

Json steps_of(const std::string& model, const std::string& kind) {
  const Result told =
      run_program({.args = {"explain", "--model", model, "--kind", kind, "--json", "-", "--head",
                            "1", "--target", "Die Gruppe ging", "The group went home"}});
  REQUIRE_MESSAGE(told.code == kDone, told.err);
  return Json::parse(told.out)["steps"];
}

Json step_called(const Json& steps, const std::string& id) {
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const Json& each) { return each["id"] == id; });
  return found == steps.end() ? Json() : *found;
}

}  // namespace

TEST_CASE("own parts: a model of all of them is trained, goes on, translates and is shown") {
  TrainScene scene;
  scene.config["model"].update({{"position", "rotary"},
                                {"norm", "rms"},
                                {"feed_forward", "gated"},
                                {"key_value_heads", 1},
                                {"head_dim", 6}});
  const Result trained = scene.train("run");
  REQUIRE_MESSAGE(trained.code == kDone, trained.err);
  CHECK(trained.err.find("note: transformers has no class with head_dim 6, key_value_heads 1, "
                         "position \"rotary\", norm \"rms\", feed_forward \"gated\"; "
                         "only attn-demo loads this model") != std::string::npos);
  scene.must_train("run", {"--resume", "--set", updates(14)});

  const std::string model = scene.file("run/model");
  const Json config = Json::parse(bytes_of(model + "/config.json"));
  CHECK(config["model_type"] == "attn-demo");
  CHECK(config["position"] == "rotary");
  CHECK(config["key_value_heads"] == 1);
  CHECK_FALSE(config.contains("static_position_embeddings"));

  const Result shown = run_program(
      {.args = {"translate", "--model", model, "--json", "-", "--vectors", "The group went home"}});
  REQUIRE_MESSAGE(shown.code == kDone, shown.err);
  const Json record = Json::parse(shown.out);
  CHECK(record["model"]["head_dim"] == 6);
  CHECK(record["encoder_self"][0].size() == 2);  // one map per head, even if heads share keys
  CHECK(record["encoder_self"][0][0] != record["encoder_self"][0][1]);

  const std::string half = scene.file("half");
  const Result converted = run_program({.args = {"convert", "--model", model, "--out", half}});
  REQUIRE_MESSAGE(converted.code == kDone, converted.err);
  CHECK(converted.err.find("only attn-demo loads this model") != std::string::npos);
  CHECK(run_program({.args = {"translate", "--model", half, "The group went home"}}).code == kDone);
  const Result inspected = run_program({.args = {"inspect", "--model", model}});
  CHECK(inspected.out.find("which share 1 of keys and values") != std::string::npos);
  CHECK(inspected.out.find("rotary: queries and keys are turned") != std::string::npos);
}

TEST_CASE("own parts: explain shows what is turned, and whose keys a head reads") {
  TrainScene scene;
  scene.config["model"].update({{"position", "rotary"}, {"key_value_heads", 1}});
  scene.must_train("run", {"--set", updates(1)});
  const std::string model = scene.file("run/model");
  for (const std::string kind : {"encoder", "decoder", "cross"}) {
    CAPTURE(kind);
    const Json steps = steps_of(model, kind);
    const Json turned = step_called(steps, "turned"), head = step_called(steps, "head");
    CHECK(turned.is_null() == (kind == "cross"));
    const Json projection = step_called(steps, "projection");
    CHECK(projection["why"].get<std::string>().find("share 1 of keys and values") !=
          std::string::npos);
    if (turned.is_null()) continue;
    const Json& q = head["matrices"][0]["values"];
    const Json& t = turned["matrices"][0]["values"];
    const Json& k = turned["matrices"][1]["values"];
    CHECK(t[0] == q[0]);  // position 0 is not rotated
    CHECK(t[1] != q[1]);
    float product = 0;
    for (std::size_t i = 0; i < t[1].size(); ++i)
      product += t[1][i].get<float>() * k[0][i].get<float>();
    CHECK(step_called(steps, "scores")["matrices"][0]["values"][1][0].get<float>() ==
          doctest::Approx(product).epsilon(1e-4));
  }
  const Result shortcuts = run_program(
      {.args = {"explain", "--model", model, "--compare", "attention", "The group went home"}});
  CHECK(shortcuts.code == kInput);
  CHECK(shortcuts.err.find("keys that are rotated by their positions") != std::string::npos);
}

TEST_CASE("own parts: what does not go together is refused before anything is made") {
  const auto with = [](const Json& changes) {
    return [=](TrainScene& scene) { scene.config["model"].update(changes); };
  };
  check_all_bad({
      {"position",
       kInput,
       {"model.position \"rotery\" is not supported"},
       with({{"position", "rotery"}})},
      {"shared heads",
       kInput,
       {"key_value_heads 3 does not divide", "use 1 or 2"},
       with({{"key_value_heads", 3}})},
      {"odd turn",
       kInput,
       {"turns pairs of a head's columns, and it has 5"},
       with({{"position", "rotary"}, {"head_dim", 5}})},
      {"odd buckets",
       kInput,
       {"model.relative_attention_num_buckets is 7; use an even number"},
       with({{"position", "relative"}, {"relative_attention_num_buckets", 7}})},
      {"no buckets",
       kInput,
       {"model.relative_attention_num_buckets is 0; use 4 to"},
       with({{"position", "relative"}, {"relative_attention_num_buckets", 0}})},
      {"kind",
       kInput,
       {"decoder_attention performer cannot be combined with position \"rotary\""},
       with({{"position", "rotary"}, {"decoder_attention", {{"type", "performer"}}}})},
  });
}

}  // namespace attn::test
