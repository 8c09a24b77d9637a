// translate --show cross:2:1@value and @alti: the numbers of why --methods contributions, as maps.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/files/files.h"
#include "base/json.h"
#include "run_program.h"
#include "temporary_directory.h"

namespace attn::test {
namespace {

constexpr const char* kSentence = "The group went home";

Result translate(std::vector<std::string> more) {
  more.insert(more.begin(), {"translate", kSentence});
  return run_program({.args = std::move(more)});
}

Result good(std::vector<std::string> more) {
  Result result = translate(std::move(more));
  REQUIRE_MESSAGE(result.code == 0, result.err);
  return result;
}

/// Returns the last field of the line of a table that begins with `start`.
double value_at(const std::string& table, const std::string& start) {
  const std::size_t at = table.find("\r\n" + start);
  REQUIRE_MESSAGE(at != table.npos, start);
  const std::size_t end = table.find("\r\n", at + 2);
  return std::stod(table.substr(table.rfind(',', end) + 1, end));
}

}  // namespace

TEST_CASE("tables of measures hold what why computes") {
  const TemporaryDirectory scene;
  const std::string folder = scene.file("t");
  good({"--show", "cross:2:1@value", "--show", "cross@alti", "--show", "encoder:0:1@alti", "--csv",
        folder});
  const Json why = Json::parse(
      run_program({.args = {"why", kSentence, "--methods", "contributions", "--json", "-"}}).out);
  const std::string values = read_file(folder + "/cross-value.csv");
  CHECK(values.starts_with(
      "sentence,hypothesis,layer,head,query,key,query_token,query_writes,key_token,value\r\n"));
  CHECK(value_at(values, "0,0,2,1,3,2,") ==
        doctest::Approx(why["value_weighted"]["cross"][2][1][3][2].get<double>()));
  const std::string layers = read_file(folder + "/cross-layers-alti.csv");
  CHECK(value_at(layers, "0,0,1,0,2,1,") ==
        doctest::Approx(why["alti"]["cross"][1][2][1].get<double>()));
  // One head alone: rows sum to 1.
  const std::string head = read_file(folder + "/encoder-alti.csv");
  double sum = 0;
  for (int key = 0; key < 5; ++key) sum += value_at(head, "0,,0,1,2," + std::to_string(key) + ",");
  CHECK(sum == doctest::Approx(1).epsilon(1e-5));
}

TEST_CASE("measures are named on the terminal and in pictures") {
  const std::string text = good({"--show", "cross:2:1@value", "--show", "decoder:0@alti"}).out;
  for (const char* part : {"cross:2:1@value", "decoder:0@alti", "the length of weight · value"}) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, part, " in ", text);
  }
  CHECK(text.find("cross:2:0") == std::string::npos);
  const std::string picture = good({"--show", "cross:2:1@value", "--svg", "-"}).out;
  CHECK(picture.find("cross:2:1@value (of 3 layers × 4 heads)") != std::string::npos);
  CHECK(picture.find("Cross-attention, value-weighted") != std::string::npos);
  CHECK(picture.find(">length</text>") != std::string::npos);
  CHECK(picture.find("1 is the largest length, ") != std::string::npos);
  const std::string layer = good({"--show", "cross:2@alti", "--svg", "-"}).out;
  CHECK(layer.find("cross:2@alti (of 3 layers)") != std::string::npos);
  CHECK(layer.find(">share</text>") != std::string::npos);
  CHECK(layer.find("All heads") == std::string::npos);
  const TemporaryDirectory scene;
  for (const char* kind : {"png", "pdf"}) {
    const std::string file = scene.file(std::string("m.") + kind);
    good({"--show", "best@alti", std::string("--") + kind, file});
    CHECK(read_file(file).size() > 1000);
  }
  CHECK(good({"--show", "cross:2:1@value", "--words"}).out.find("@value") != std::string::npos);
}

TEST_CASE("measures are refused by name where they cannot be computed") {
  const auto refused = [](std::vector<std::string> args, int code, const std::string& part) {
    const Result result = run_program({.args = std::move(args)});
    CHECK_MESSAGE(result.code == code, result.err);
    CHECK_MESSAGE(result.err.find(part) != std::string::npos, result.err);
  };
  const auto show = [&](const char* item, const std::string& part) {
    refused({"translate", kSentence, "--show", item}, 2, part);
  };
  show("cross:2:1@weight", "cross:2:1@weight: expected @value (value-weighted) or @alti");
  show("cross:2:1@", "cross:2:1@: expected @value");
  show("cross:2:mean@alti", "cross:2@alti measures a layer");
  show("cross:7@value", "no layer 7");
  show("all@value", "expected KIND");
  refused({"translate", kSentence, "--show", "cross:0:1@value", "--without", "cross:0:1"}, 2,
          "--show cross:0:1@value does not go with --without");
  const std::string shipped = std::string(ATTN_SOURCE_DIR) + "/data/models/en-de";
  refused({"translate", kSentence, "--show", "cross@alti", "--model", shipped, "--model", shipped},
          2, "--show cross@alti measures the values of one model");
  const TemporaryDirectory scene;
  good({"--json", scene.file("r.json")});
  refused({"page", scene.file("r.json"), "--show", "cross@alti"}, 2,
          "page draws the weights of saved records");
}

}  // namespace attn::test
