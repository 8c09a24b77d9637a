// Tests train with bad text: one clear line, an exit code, and no folder.
#include <doctest/doctest.h>

#include "bad_training.h"

namespace attn::test {
namespace {

/// Returns `lines` copies of the line.
std::string repeated_line(const std::string& line, int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += line + "\n";
  return text;
}

std::function<void(TrainScene&)> file(const std::string& name, const std::string& bytes) {
  return [=](TrainScene& scene) { scene.directory.write(name, bytes); };
}

std::function<void(TrainScene&)> both(const std::string& source, const std::string& target) {
  return [=](TrainScene& scene) {
    scene.directory.write("train.en", source);
    scene.directory.write("train.de", target);
  };
}

}  // namespace

TEST_CASE("bad text") {
  check_all_bad({
      {"line counts",
       kInput,
       {"{dir}/train.en has 150 lines and {dir}/train.de has 7;", "line n"},
       file("train.de", repeated_line("a", 7))},
      {"line counts of dev",
       kInput,
       {"{dir}/dev.en has 9 lines and {dir}/dev.de has 8"},
       file("dev.en", repeated_line("a", 9))},
      {"one empty file", kInput, {"has 150 lines and {dir}/train.de has 0"}, file("train.de", "")},
      {"two empty files", kInput, {"{dir}/train.en and {dir}/train.de are empty"}, both("", "")},
      {"invalid UTF-8",
       kInput,
       {"{dir}/train.de:3: not valid UTF-8", "iconv"},
       both("a\nb\nc\n", "a\nb\n\xFF\n")},
      {"invalid UTF-8 in dev, CRLF",
       kInput,
       {"{dir}/dev.en:2: not valid UTF-8"},
       file("dev.en", "a\r\nb\xC3\r\n" + repeated_line("c", 6))},
      {"no text",
       kInput,
       {"{dir}/train.de: no text to train a tokenizer on"},
       both(repeated_line("a", 3), repeated_line(" ", 3))},
      {"each pair has an empty side",
       kInput,
       {"no pair is left to train on (4 with an empty side, 0 longer than 32 tokens)"},
       both("a\n\nb\n \n", "\nc\n\nd\n")},
      {"each pair too long",
       kInput,
       {"no pair is left to train on (0 with an empty side, 2 longer than 2 tokens)",
        "raise train.max_length, train.batch_tokens or model.max_position_embeddings"},
       both("a b\nc d\n", "e f\ng\n"),
       set("train.max_length=2")},
      {"longer than a batch",
       kInput,
       {"2 longer than 2 tokens"},
       both("a b\nc d\n", "e f\ng\n"),
       set("train.batch_tokens=2")},
      {"nothing to validate on",
       kInput,
       {"data.dev: no sentence pair is left for validation (8 with"},
       file("dev.de", repeated_line("", 8))},
  });
}

TEST_CASE("files that are missing") {
  check_all_bad({
      {"text",
       kSystem,
       {"experiment.json: data.train.source is \"nowhere.en\", but {dir}/nowhere.en does not "
        "exist; paths, even in overrides, are relative to the config's folder"},
       {},
       set("data.train.source=nowhere.en")},
      {"a directory as text", kSystem, {"it is a directory"}, {}, set("data.train.source=.")},
      {"dev text", kSystem, {"{dir}/nowhere.de"}, {}, set("data.dev.target=nowhere.de")},
      {"no training text",
       kInput,
       {"experiment.json: data.train.source is missing"},
       [](TrainScene& scene) { scene.config.erase("data"); }},
      {"no target",
       kInput,
       {"data.train.target is missing"},
       [](TrainScene& scene) { scene.config["data"]["train"].erase("target"); }},
      {"half a dev part",
       kInput,
       {"data.dev.target is missing"},
       [](TrainScene& scene) { scene.config["data"]["dev"].erase("target"); }},
      {"tokenizer",
       kSystem,
       {"experiment.json: tokenizer.model is \"nowhere\", but "},
       [](TrainScene& scene) {
         scene.config["tokenizer"] = {{"model", "nowhere"}};
       }},
  });
}

TEST_CASE("empty and over-long pairs are skipped and counted") {
  TrainScene scene;
  std::string many;
  for (int i = 0; i < 40; ++i) many += "went ";
  const std::string source =
      bytes_of(scene.file("train.en")) + "\nthe group\n" + many + "\nWe went\n";
  const std::string target = bytes_of(scene.file("train.de")) + "die\n  \nging\nWir gingen\n";
  scene.directory.write("train.en", source);
  scene.directory.write("train.de", target);
  const Result result = scene.train("run");
  CHECK_MESSAGE(result.code == kDone, result.err);
  CHECK_MESSAGE(
      result.err.find("note: 3 of 154 pairs were skipped: 2 with an empty side, 1 longer than 32 "
                      "tokens\n151 sentence pairs to train on\n") != std::string::npos,
      result.err);
}

}  // namespace attn::test
