// Tests --precision: its mention in records and scores, and that a translation has the same bits
// wherever the sentence occurs.
#include <doctest/doctest.h>

#include <cmath>

#include "bad_input.h"
#include "base/files/files.h"
#include "base/json.h"
#include "compute/bfloat16_weight.h"

namespace attn::test {
namespace {

Result precise_translate(std::vector<std::string> more, const std::string& input = "") {
  more.insert(more.begin(), "translate");
  return run_program({.args = std::move(more), .input = input});
}

Json precise_record(std::vector<std::string> more) {
  more.insert(more.end(), {"--json", "-", "The group went home"});
  const Result result = precise_translate(more);
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  return Json::parse(result.out);
}

}  // namespace

TEST_CASE("records of 8 bits say so, and are near those of 32") {
  const Json eight = precise_record({"--precision", "int8"}), whole = precise_record({});
  CHECK(eight["model"]["precision"] == "int8");
  CHECK(!whole["model"].contains("precision"));
  CHECK(precise_record({"--precision", "float32"}) == whole);
  const Json &a = eight["hypotheses"][0], &b = whole["hypotheses"][0];
  CHECK(a["text"] == "Die Gruppe ging nach Hause");
  CHECK(a["log_probs"] != b["log_probs"]);
  for (std::size_t i = 0; i < b["log_probs"].size(); ++i) {
    CHECK(std::abs(a["log_probs"][i].get<double>() - b["log_probs"][i].get<double>()) < 0.3);
  }
  // A given translation and an experiment use the same matrix multiplications.
  const Json given =
      precise_record({"--precision", "int8", "--target", a["text"].get<std::string>()});
  CHECK(given["hypotheses"][0]["cross"] == a["cross"]);
  CHECK(given["hypotheses"][0]["log_probs"] == a["log_probs"]);
  const Result changed = precise_translate(
      {"--precision", "int8", "--without", "cross:2:2", "--json", "-", "The group went home"});
  CHECK(changed.code == kDone);
  CHECK(changed.out.find("\"precision\":\"int8\"") != std::string::npos);
}

TEST_CASE("records of bfloat16 say so, and are near those of float32") {
  if (!cpu_multiplies_bfloat16()) return;
  const Json half = precise_record({"--precision", "bfloat16"}), whole = precise_record({});
  CHECK(half["model"]["precision"] == "bfloat16");
  const Json &a = half["hypotheses"][0], &b = whole["hypotheses"][0];
  CHECK(a["text"] == "Die Gruppe ging nach Hause");
  CHECK(a["log_probs"] != b["log_probs"]);
  for (std::size_t i = 0; i < b["log_probs"].size(); ++i) {
    CHECK(std::abs(a["log_probs"][i].get<double>() - b["log_probs"][i].get<double>()) < 0.1);
  }
}

TEST_CASE("bfloat16 is refused by name where the kernels do not multiply it") {
  const Result refused =
      run_program({.args = {"translate", "--precision", "bfloat16", "The group went home"},
                   .environment = {{"ATTN_DEMO_CPU", "portable"}}});
  CHECK(refused.code == kUsage);
  CHECK(refused.err.find("--precision bfloat16: it needs a CPU with AVX512_BF16 or AMX") !=
        std::string::npos);
  CHECK(refused.err.find("use float32 or int8") != std::string::npos);
  CHECK(refused.out.empty());
}

TEST_CASE("8 bits and bfloat16: alone, in batches and on two threads the same scores") {
  const std::string lines =
      "The group went home\nWe went\nI do not know what he said\nGood night\n";
  for (const std::string precision : {"int8", "bfloat16"}) {
    if (precision == "bfloat16" && !cpu_multiplies_bfloat16()) continue;
    CAPTURE(precision);
    const std::vector<std::string> common{"--precision", precision, "--n-best", "2", "--beam", "3"};
    std::string expected;
    for (const char* batch : {"1", "4"}) {
      for (const char* threads : {"1", "2"}) {
        std::vector<std::string> args = common;
        args.insert(args.end(), {"--batch", batch, "--threads", threads});
        const Result result = precise_translate(args, lines);
        REQUIRE_MESSAGE(result.code == kDone, result.err);
        if (expected.empty()) expected = result.out;
        CHECK(result.out == expected);
      }
    }
  }
}

TEST_CASE("every model of an ensemble has the precision") {
  const std::string model = std::string(ATTN_SOURCE_DIR) + "/data/models/en-de";
  const std::vector<std::string> twice = {"--model", model,         "--model",
                                          model,     "--precision", "int8"};
  // The mean of a model with itself must be the same; a second rounding to float32 would change
  // it.
  CHECK(precise_record(twice)["hypotheses"][0]["log_probs"] ==
        precise_record({"--precision", "int8"})["hypotheses"][0]["log_probs"]);
}

TEST_CASE("evaluate names the precision of its run") {
  const TemporaryDirectory scene;
  const std::string source = scene.write("s", "The group went home\n");
  const std::string target = scene.write("t", "Die Gruppe ging nach Hause\n");
  const auto scores = [&](const std::string& precision) {
    const Result result = run_program({.args = {"evaluate", "--source", source, "--target", target,
                                                "--precision", precision, "--json", "-"}});
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    return Json::parse(result.out);
  };
  CHECK(scores("int8").dump().find("\"precision\":\"int8\"") != std::string::npos);
  CHECK(scores("float32").dump().find("\"precision\":\"") == std::string::npos);
}

TEST_CASE("what --precision refuses") {
  check_all({
      {"no such precision",
       {"translate", "--precision", "int4", "The"},
       kUsage,
       {"--precision int4: expected float32, bfloat16 or int8"}},
      {"an empty one", {"evaluate", "--precision", "", "--target", "t"}, kUsage, {"--precision"}},
      {"explain has float32 alone",
       {"explain", "--precision", "int8", "The"},
       kUsage,
       {"explain has no option --precision; "
        "translate, evaluate and serve have it"}},
      {"training in 8 bits",
       {"train", "{demo}", "--set", "train.precision=int8", "--out", "{dir}/run"},
       kInput,
       {"precision", "int8", "float32"}},
  });
}

}  // namespace attn::test
