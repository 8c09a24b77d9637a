// Tests that errors of libraries, which know no options, name the option that led to them.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "bad_input.h"
#include "model_files.h"
#include "run_program.h"

namespace attn::test {
namespace {

TEST_CASE("what a library refuses is said with the option's name, whole") {
  struct Refused {
    std::vector<std::string> arguments;
    const char* line;
    int code = 2;
  };
  const Refused table[] = {
      {{"translate", "x", "--show", "crosses"},
       "--show \"crosses\": expected KIND, KIND:LAYER or KIND:LAYER:HEAD, where KIND is encoder, "
       "decoder or cross, and best or mean may replace a number, or the word all or none; try "
       "cross:0:1 or best"},
      {{"translate", "x", "--show", "encoder:best"},
       "--show encoder:best: best is the head that aligns source and target words, and only heads "
       "of cross-attention do; try cross:best or encoder:mean"},
      {{"translate", "x", "--numbers", "--top", "3"},
       "leave --numbers out: --top already shows numbers"},
      {{"translate", "x", "--words", "--pieces"},
       "--words and --pieces exclude each other; choose one"},
      {{"inspect", "--presets", "--model", "nope"},
       "--presets lists the well-known shapes; leave --model out"},
      {{"translate", "x", "--show", "cross:01"},
       "--show cross:01: the layer is \"01\"; expected a whole number from 0, as in cross:0:1"},
      {{"translate", "x", "--show", "cross:9"},
       "--show cross:9: no layer 9: the decoder has layers 0 to 1"},
      {{"translate", "x", "--show", "none", "--show", "cross"},
       "--show none: you also named other maps; use none alone, or leave it out"},
      {{"translate", "x", "--align", "encoder:0:1"},
       "--align encoder:0:1: only cross-attention links source and target words; try cross:0:1 or "
       "best"},
      {{"translate", "x", "--align", "cross:0:9"},
       "--align cross:0:9: no head 9: each layer of the decoder has heads 0 to 1"},
      {{"translate", "x", "--without", "cross:x"},
       "--without cross:x: the layer is \"x\"; expected a whole number from 0, as in cross:0:1"},
      {{"translate", "x", "--without", "both:1"},
       "--without both:1: \"both\" is not a kind of attention; expected encoder, decoder or cross"},
      {{"translate", "x", "--force", "cross:7:0:0=0"},
       "--force cross:7:0:0=0: no layer 7: the decoder has layers 0 to 1"},
      {{"translate", "x", "--force", "cross:0:0"},
       "--force cross:0:0: expected KIND:LAYER:HEAD:QUERY=KEY, as in cross:1:3:2=4 or "
       "cross:1:3:ging=went"},
      {{"translate", "x", "--set", "24"},
       "--set \"24\": expected section.key=value, such as model.d_model=24"},
      {{"explain", "x", "--layer", "2"}, "--layer 2: no layer 2: the decoder has layers 0 to 1"},
      {{"explain", "x", "--head", "2"},
       "--head 2: no head 2: each layer of the decoder has heads 0 to 1"},
      {{"explain", "x", "--head", "cross:5:1"},
       "--head cross:5:1: no layer 5: the decoder has layers 0 to 1"},
      {{"explain", "x", "--show", "cross:1:1"},
       "explain has no option --show; translate and page have it"},
      {{"translate", "x", "--head", "1"}, "translate has no option --head; explain has it"},
      {{"translate", "x", "--layer", "1"}, "translate has no option --layer; explain has it"},
      {{"translate", "x", "--query", "1"}, "translate has no option --query; explain has it"},
      {{"translate", "x", "--step", "1"}, "translate has no option --step; explain has it"},
      {{"translate", "x", "--color", "on"}, "--color on: expected auto, always or never"},
      {{"inspect", "/tmp"}, "inspect does not take the argument /tmp; --model /tmp names a model"},
      {{"inspect", "tmp"},
       "inspect does not take the argument tmp; attn-demo inspect --help shows what it takes"},
      {{"explain", "home", "cross:2:2"},
       "explain needs exactly one sentence, and 2 were given; --head cross:2:2 names the head"},
      {{"translate", "--without", "cross:1"},
       "--without, --force and --swap need a sentence as an argument"},
      {{"translate", "x", "--htlm", "page"},
       "translate has no option --htlm; did you mean --html?"},
      {{"explain", "the", "group"},
       "explain needs exactly one sentence, and 2 were given; put quotation marks around the words "
       "of a sentence"},
      {{"explain", "the group", "the dog"}, "explain needs exactly one sentence, and 2 were given"},
      {{"explain", "home", "--kind", "encoder", "--query", "9"},
       "no query 9: there are queries 0 to 1, one per source token"},
      {{"explain", "The group went home", "--meaning", "home"},
       "“home” occurs once in what was given, as whole word in this spelling; give a sentence (or "
       "several) where it occurs at least twice",
       3},
      {{"inspect", "--heads", "5"},
       "--heads: d_model 12 is not divisible by encoder_attention_heads 5; use 1, 2, 3, 4, 6 or 12",
       3},
  };
  for (const Refused& refused : table) {
    std::vector<std::string> arguments = refused.arguments;
    arguments.insert(arguments.end(), {"--config", demo_config()});
    const Result result = run_program({.args = arguments});
    const std::size_t start = std::min(result.err.find("attn-demo: "), result.err.size());
    CHECK(result.err.substr(start) ==
          std::string("attn-demo: ") + refused.line + "\n");  // may follow notes
    CHECK(result.code == refused.code);
    CHECK(result.out.empty());
  }
  // A run's directory is mistaken for its model, or for its records.
  const TemporaryDirectory scene;
  std::filesystem::create_directories(scene.file("run/model"));
  for (const char* name : {"run/train.jsonl", "run/probe.jsonl"}) std::ofstream(scene.file(name));
  const auto said = [&](std::vector<std::string> arguments) {
    const Result result = run_program({.args = std::move(arguments)});
    CHECK(result.code == (result.err.find("a file;") == std::string::npos ? 3 : 4));
    return result.err;
  };
  CHECK(said({"translate", "x", "--model", scene.file("run")}) ==
        "attn-demo: " + scene.file("run") + ": a training run, not a model; its model is " +
            scene.file("run/model") + "\n");
  CHECK(said({"translate", "x", "--model", scene.file("run/train.jsonl")}) ==
        "attn-demo: " + scene.file("run/train.jsonl") +
            ": a file; expected the model directory that holds it\n");
  for (const std::string wrong : {"run", "run/train.jsonl"}) {
    CHECK(said({"page", scene.file(wrong), "--html", scene.file("p.html")}) ==
          "attn-demo: " + scene.file(wrong) + ": of this training run, the records are in " +
              scene.file("run/probe.jsonl") + "\n");
  }
  const Result words = run_program({.args = {"translate", "the", "group", "--show", "none",
                                             "--config", demo_config(), "--max-length", "2"}});
  CHECK(words.code == 0);
  CHECK(words.err.ends_with(
      "note: translating 2 one-word sentences; use quotation marks to make one\n"));
  const Result preset = run_program({.args = {"inspect", "--preset", "bert"}});
  CHECK(preset.err ==
        "attn-demo: unknown preset \"bert\"; the nearest is \"bert-base\" (attn-demo inspect "
        "--presets lists all)\n");
  CHECK(preset.code == 3);
}

}  // namespace
}  // namespace attn::test
