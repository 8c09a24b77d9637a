// Tests --help, --version, and inspect on the lesson's config.
#include <doctest/doctest.h>

#include "bad_input.h"
#include "base/strings/utf8.h"

namespace attn::test {

namespace {

const std::vector<std::string> kCommands = {
    "translate", "explain",  "why",       "page",  "train", "init",   "convert",
    "inspect",   "evaluate", "tokenizer", "serve", "help",  "version"};

std::string text_of(const std::vector<std::string>& args) {
  const Result result = run_program({.args = args});
  CHECK(result.code == kDone);
  CHECK(result.err == "");
  CHECK(is_plain(result.out));
  return result.out;
}

}  // namespace

TEST_CASE("--help of the program and of each command shows an example, in 80 columns") {
  for (const std::string& command : kCommands) {
    INFO("command: ", command);
    const std::string help = text_of({command, "--help"});
    CHECK(help.find("\nExample") != std::string::npos);
    CHECK(help.find("\n  attn-demo " + command) != std::string::npos);
    for (const std::string& line : lines_of(help)) {
      CHECK_MESSAGE(display_width(line) <= 80, line);
    }
    // Every option is listed under its purpose.
    CHECK(help.find("\nMore:\n  -h,--help             Show this help and exit\n\n") !=
          std::string::npos);
  }
  const std::string all = text_of({"--help"});
  for (const std::string& command : kCommands) {
    CHECK_MESSAGE(all.find("\n  " + command + " ") != std::string::npos, command);
  }
}

TEST_CASE("help and version are commands, too") {
  CHECK(text_of({"help"}) == text_of({"--help"}));
  CHECK(text_of({"version"}) == text_of({"--version"}));
  for (const std::string& command : kCommands) {
    CHECK(text_of({"help", command}) == text_of({command, "--help"}));
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

TEST_CASE("a shape without a model says that this is not the shipped one") {
  const auto notes = [](std::vector<std::string> more) {
    std::vector<std::string> args{"translate", "--show", "none", "The group went home"};
    args.insert(args.end(), more.begin(), more.end());
    const Result result = run_program({.args = std::move(args)});
    CHECK(result.code == kDone);
    return result.err;
  };
  CHECK(notes({"--heads", "3"})
            .find("note: --heads: a random model of 12 columns "
                  "(configs/demo.json), not the shipped one\n") != std::string::npos);
  CHECK(notes({"--d-model", "24", "--seed", "2"})
            .find("note: --d-model, --seed: a random model of 24 columns") != std::string::npos);
  CHECK(notes({}).empty());
  CHECK(notes({"--heads", "3", "--config", demo_config()}).find("shipped") == std::string::npos);
}

TEST_CASE("inspect compares head counts: the parameters stay, head_dim changes") {
  const Result result =
      run_program({.args = {"inspect", "--config", demo_config(), "--heads", "2,3,4,6"}});
  CHECK(result.code == kDone);
  CHECK(errors_of(result).empty());
  CHECK(is_plain(result.out));
  CHECK(result.out.starts_with("The same model with other heads, d_model 12\n"));
  const Result growth =
      run_program({.args = {"inspect", "--config", demo_config(), "--lengths", "16,64"}});
  CHECK(growth.out.starts_with("How one self-attention layer grows with the length N\n"));
  // Neither shows the other's output, nor the tables of the whole model.
  CHECK(result.out.find("How one self-attention layer") == std::string::npos);
  CHECK(growth.out.find("The same model with other heads") == std::string::npos);
  for (const Result& each : {result, growth}) {
    CHECK(each.out.find("cross-attention maps") == std::string::npos);
    CHECK(lines_of(each.out).size() < 20);
  }
  CHECK(notes_of(run_program({.args = {"inspect", "--d-model", "24"}})) ==
        std::vector<std::string>{
            "note: --d-model: a random model of 24 columns (configs/demo.json), not the shipped "
            "one"});
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
