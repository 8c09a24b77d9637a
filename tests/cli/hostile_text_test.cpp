// Tests external text in messages and outputs that is long or has no valid encoding.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "bad_input.h"
#include "base/json.h"
#include "base/strings/utf8.h"
#include "model_files.h"
#include "run_program.h"
#include "temporary_directory.h"

using namespace attn;
using namespace attn::test;

namespace {

const std::string kLong(70'000, 'x');

/// Checks for a single line of readable length.
void check_short(const Result& result, int code) {
  CHECK(result.code == code);
  CHECK(result.out.empty());
  CHECK(result.err.size() < 500);
  CHECK(result.err.find('\n') == result.err.size() - 1);
}

}  // namespace

TEST_CASE("an argument of 70 kB is not quoted whole") {
  const std::vector<std::vector<std::string>> cases = {
      {kLong},
      {"translate", "--" + kLong},
      {"translate", "a", "--beam", kLong},
      {"translate", "a", "--length-penalty", kLong},
      {"translate", "a", "--early-stopping", kLong},
      {"translate", "a", "--show", kLong},
      {"translate", "a", "--align", kLong},
      {"translate", "a", "--without", kLong},
      {"translate", "a", "--without", kLong + ":0"},
      {"translate", "a", "--without", "cross:" + kLong},
      {"translate", "a", "--force", kLong},
      {"translate", "a", "--swap", kLong},
      {"translate", "a", "--config", ATTN_SOURCE_DIR "/configs/demo.json", "--set", kLong},
      {"explain", "a", "--kind", kLong},
      {"explain", "a", "--order", "a " + kLong, "b " + kLong},
      {"convert", "--dtype", kLong, "/nowhere", "/nowhere"},
  };
  for (const std::vector<std::string>& arguments : cases) {
    CAPTURE(arguments.front() + " " + arguments[arguments.size() > 2 ? 2 : 0].substr(0, 20));
    const Result result = run_program({.args = arguments});
    check_short(result, kUsage);
  }
}

TEST_CASE("--set makes no deeper nesting than a file may hold") {
  std::string path = "tokenizer.vocab_size";
  for (int i = 0; i < 40; ++i) path += ".a";
  const Result result =
      run_program({.args = {"translate", "a", "--config", ATTN_SOURCE_DIR "/configs/demo.json",
                            "--set", path + "=1"}});
  CHECK(result.code == kUsage);
  CHECK(result.err ==
        "attn-demo: --set \"tokenizer.vocab_size.a.a.a.a.a.a.a.a.a....: expected "
        "section.key=value, such as model.d_model=24\n");
}

TEST_CASE("a preset or a file's text of 70 kB is not quoted whole") {
  check_short(run_program({.args = {"inspect", "--preset", kLong}}), kInput);
  const TemporaryDirectory scene;
  const std::string text = "{\"" + kLong + "\": \"" + kLong + "\"}";
  scene.write("x.json", text);
  check_short(run_program({.args = {"translate", "--config", scene.file("x.json"), "a"}}), kInput);
  scene.write("x.json", "{\"model\": " + text + "}");
  check_short(run_program({.args = {"translate", "--config", scene.file("x.json"), "a"}}), kInput);
  scene.write("x.json", R"({"model": {"activation_function": ")" + kLong + "\"}}");
  check_short(run_program({.args = {"translate", "--config", scene.file("x.json"), "a"}}), kInput);
  scene.write("x.json", R"({"model": )" + kLong + "}");
  check_short(run_program({.args = {"translate", "--config", scene.file("x.json"), "a"}}), kInput);
  scene.write("r.json", R"({"format": "attn-demo.attention", "version": ")" + kLong + "\"}\n");
  check_short(run_program({.args = {"page", scene.file("r.json"), "--html", scene.file("p.html")}}),
              kInput);
}

TEST_CASE("a path that is not UTF-8 leaves JSON and HTML whole") {
  const TemporaryDirectory scene;
  const std::string config = scene.file("\xffig.json");
  std::filesystem::copy_file(ATTN_SOURCE_DIR "/configs/demo.json", config);
  const std::string tokenizer =
      std::string("tokenizer.model=") + ATTN_SOURCE_DIR "/data/demo/tokenizer";
  const std::vector<std::string> model = {"--config", config, "--set", tokenizer};
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), model.begin(), model.end());
    const Result result = run_program({.args = arguments});
    CHECK_MESSAGE(result.code == kDone, result.err);
    CHECK(is_valid_utf8(result.out));
    CHECK(is_valid_utf8(result.err));
    return result.out;
  };
  const Json record = Json::parse(run({"translate", "the group", "--json", "-"}));
  CHECK(record["model"]["name"].get<std::string>().ends_with("\ufffdig.json"));
  CHECK(run({"translate", "the group", "--html", "-"}).find("\ufffdig.json") != std::string::npos);
  CHECK(Json::parse(run({"explain", "the group", "--json", "-"})).is_object());
  CHECK(Json::parse(run({"inspect", "--json", "-"})).is_object());
  const Result named =
      run_program({.args = {"translate", "a", "--config", config, "--set", "model.\xff=\xff"}});
  CHECK(named.code == kInput);
  CHECK(named.err.find("unknown key \"\\ufffd\" in model") != std::string::npos);
}
