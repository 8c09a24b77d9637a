// --help, --version, and inspect on the lesson's config.
#include <doctest/doctest.h>

#include "bad_input.h"

namespace attn::test {

TEST_CASE("--help of the program and of each command shows an example") {
  for (const std::vector<std::string>& command : {std::vector<std::string>{},
                                                  {"translate"},
                                                  {"init"},
                                                  {"train"},
                                                  {"convert"},
                                                  {"explain"},
                                                  {"inspect"},
                                                  {"evaluate"},
                                                  {"tokenizer"}}) {
    std::vector<std::string> args = command;
    args.emplace_back("--help");
    const Result result = run_program({.args = args});
    INFO("command: ", command.empty() ? "" : command[0]);
    CHECK(result.code == kDone);
    CHECK(result.err == "");
    CHECK(result.out.find("Example") != std::string::npos);
    CHECK(result.out.find("attn-demo " + (command.empty() ? "translate" : command[0])) !=
          std::string::npos);
    CHECK(is_plain(result.out));
  }
}

TEST_CASE("--help of translate names every option") {
  const std::string help = run_program({.args = {"translate", "--help"}}).out;
  for (const std::string option :
       {"--model", "--config", "--preset", "--seed", "--d-model", "--heads", "--layers", "--set",
        "--target", "--beam", "--n-best", "--length-penalty", "--early-stopping", "--max-length",
        "--threads", "--batch", "--show", "--json"}) {
    CHECK_MESSAGE(help.find(option) != std::string::npos, option);
  }
}

TEST_CASE("--version is one line") {
  const Result result = run_program({.args = {"--version"}});
  CHECK(result.code == kDone);
  CHECK(result.out.starts_with("attn-demo "));
  CHECK(lines_of(result.out).size() == 1);
  CHECK(result.err == "");
}

TEST_CASE("the program works in any directory") {
  const TemporaryDirectory scene;
  const Result result = run_program(
      {.args = {"translate", "--seed", "3", "The group went home"}, .folder = scene.path()});
  CHECK(result.code == kDone);
  CHECK(result.out != "");
  CHECK(scene.entries() == 0);
}

TEST_CASE("inspect compares head counts: the parameters stay, head_dim changes") {
  const Result result =
      run_program({.args = {"inspect", "--config", demo_config(), "--heads", "2,3,4,6"}});
  CHECK(result.code == kDone);
  CHECK(errors_of(result).empty());
  CHECK(is_plain(result.out));
  CHECK(result.out.find("head_dim") != std::string::npos);
  const Result json = run_program(
      {.args = {"inspect", "--config", demo_config(), "--heads", "2,3,4,6", "--json", "-"}});
  CHECK(json.code == kDone);
  CHECK(Json::accept(json.out));
}

TEST_CASE("inspect --presets lists the well-known shapes") {
  const Result result = run_program({.args = {"inspect", "--presets"}});
  CHECK(result.code == kDone);
  for (const std::string name :
       {"BERT-base", "BERT-large", "GPT-3 Curie", "GPT-3 Davinci", "LLaMA 7B", "LLaMA 13B",
        "LLaMA 70B", "T5-base", "T5-large", "BART-base", "BART-large"}) {
    CHECK_MESSAGE(result.out.find(name) != std::string::npos, name);
  }
  CHECK(run_program({.args = {"inspect", "--preset", "llama-70b"}}).code == kDone);
  CHECK(run_program({.args = {"inspect", "--preset", "t5-base"}}).code == kDone);
}

TEST_CASE("inspect lists keys of a model that it does not use") {
  const TemporaryDirectory scene;
  ModelFiles model = ModelFiles::good();
  model.set("config.json", "key_of_others", 3);
  const Result result = run_program({.args = {"inspect", "--model", model.write(scene, "m")}});
  CHECK(result.code == kDone);
  CHECK(result.out.find("key_of_others") != std::string::npos);
}

}  // namespace attn::test
