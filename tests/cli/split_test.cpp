// Tests translate --split and evaluate --split: which lines are split, and their records.
#include <doctest/doctest.h>

#include "bad_input.h"
#include "base/files/files.h"

namespace attn::test {
namespace {

const std::string kFirst = "The group went home.";
const std::string kSecond = "Dr. We went to the house.";
const std::string kLine = kFirst + "  " + kSecond + " The?";

/// A directory with the demo's model, which claims to have learned sources of this many tokens (0:
/// no claim).
struct SplitScene {
  explicit SplitScene(int longest) {
    ModelFiles files = ModelFiles::good();
    files.set("generation_config.json", "num_beams", 1);
    files.set("generation_config.json", "max_length", 9);
    if (longest > 0) files.set("generation_config.json", "longest_source", longest);
    model = files.write(directory, "model");
  }
  Result translate(std::vector<std::string> more, const std::string& input = "") const {
    more.insert(more.begin(), {"translate", "--model", model});
    return run_program({.args = std::move(more), .input = input});
  }
  /// Returns the translation of a text as a whole.
  std::string whole(const std::string& text) const {
    const Result result = translate({"--split", "never", "--show", "none", text});
    REQUIRE_MESSAGE(result.code == 0, result.err);
    return lines_of(result.out).at(0);
  }
  std::string in_parts() const {
    return whole(kFirst) + "  " + whole(kSecond) + " " + whole("The?");
  }

  TemporaryDirectory directory;
  std::string model;
};

}  // namespace

TEST_CASE("a line beyond what the model has learned is translated sentence by sentence") {
  const SplitScene scene(8);
  REQUIRE(scene.in_parts() != scene.whole(kLine));
  const std::string input = kFirst + "\n" + kLine + "\n\n" + kSecond + "\n";
  const std::string expected =
      scene.whole(kFirst) + "\n" + scene.in_parts() + "\n\n" + scene.whole(kSecond) + "\n";
  for (const std::string batch : {"1", "2", "32"}) {
    const Result result = scene.translate({"--batch", batch}, input);
    CHECK(result.out == expected);
    CHECK(result.err.starts_with(
        "note: 1 line was translated sentence by sentence (--split never: as a whole)\n"));
  }
  CHECK(scene.translate({"--split", "never"}, kLine).out == scene.whole(kLine) + "\n");
}

TEST_CASE("what the model has learned stays whole, unless --split sentences says else") {
  const SplitScene scene(100);
  CHECK(scene.translate({}, kLine).out == scene.whole(kLine) + "\n");
  CHECK(scene.translate({"--split", "auto"}, kLine).out == scene.whole(kLine) + "\n");
  CHECK(scene.translate({"--split", "sentences"}, kLine).out == scene.in_parts() + "\n");
}

TEST_CASE("a model that does not say how long it has learned is never cut by itself") {
  const SplitScene scene(0);
  CHECK(scene.translate({}, kLine).out == scene.whole(kLine) + "\n");
  CHECK(scene.translate({"--split", "sentences"}, kLine).out == scene.in_parts() + "\n");
}

TEST_CASE("records say which part of which line they are") {
  const SplitScene scene(8);
  const Result result = scene.translate({"--json", "-"}, kFirst + "\n" + kLine + "\n");
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == 4);
  CHECK_FALSE(Json::parse(lines[0]).contains("part"));
  const std::vector<std::string> sources = {kFirst, kSecond, "The?"};
  const std::vector<std::string> gaps = {"", "  ", " "};
  for (std::size_t i = 0; i < 3; ++i) {
    const Json record = Json::parse(lines[i + 1]);
    CHECK(record["part"] ==
          Json({{"line", 2}, {"number", i + 1}, {"of", 3}, {"text", kLine}, {"gap", gaps[i]}}));
    CHECK(record["source"]["text"] == sources[i]);
    CHECK(record["hypotheses"][0]["text"] == scene.whole(sources[i]));
  }
  const std::string page = scene.directory.path() + "/page.html";
  const std::string json = scene.directory.write("maps.json", result.out);
  CHECK(run_program({.args = {"page", json, "--html", page}}).code == kDone);
}

TEST_CASE("the terminal names each part above its maps, and prints one translation a line") {
  const SplitScene scene(8);
  const Result result = scene.translate({kLine, "--show", "cross:0:0"});
  const std::vector<std::string> lines = lines_of(result.out);
  CHECK(lines.at(0) == scene.in_parts());
  for (const std::string part :
       {"\nPart 1 of 3: The group went home.\n", "\nPart 2 of 3: Dr. We went to the house.\n",
        "\nPart 3 of 3: The?\n"}) {
    CHECK(result.out.find(part) != std::string::npos);
  }
  CHECK(scene.translate({kFirst}).out.find("Part ") == std::string::npos);
}

TEST_CASE("n-best and alignments are one list and one line a line of input") {
  const SplitScene scene(8);
  const Result best = scene.translate({"--beam", "3", "--n-best", "3"}, kLine);
  REQUIRE(lines_of(best.out).size() == 3);
  CHECK(lines_of(best.out)[2].starts_with("3\t"));
  const Result aligned = scene.translate({"--align", "cross:0:0"}, kLine);
  REQUIRE(lines_of(aligned.out).size() == 2);
  CHECK(lines_of(aligned.out)[0] == scene.in_parts());
}

TEST_CASE("a line that is longer than the positions loses nothing where it is cut into sentences") {
  const SplitScene scene(8);
  std::string line = kFirst;
  for (int i = 0; i < 200; ++i) line += " " + kFirst;
  const Result parts = scene.translate({"--show", "none", line});
  std::string expected = scene.whole(kFirst);
  for (int i = 0; i < 200; ++i) expected += " " + scene.whole(kFirst);
  CHECK(parts.out == expected + "\n");
  CHECK(parts.err.find("was cut") == std::string::npos);
  CHECK(scene.translate({"--split", "never", line}).err.find("was cut") != std::string::npos);
}

TEST_CASE("a published model's line that is longer than its positions is cut by itself, too") {
  const SplitScene scene(0);
  std::string line = kFirst;
  for (int i = 0; i < 200; ++i) line += " " + kFirst;
  const Result result = scene.translate({"--show", "none", line});
  std::string expected = scene.whole(kFirst);
  for (int i = 0; i < 200; ++i) expected += " " + scene.whole(kFirst);
  CHECK(result.out == expected + "\n");
  CHECK(result.err.find("was cut") == std::string::npos);
  const Result never = scene.translate({"--split", "never", "--show", "none", line});
  CHECK(never.err.find("positions and was cut; --split sentences translates all of it\n") !=
        std::string::npos);
}

TEST_CASE("parts of a document are as many sentences as the model takes") {
  const SplitScene scene(10);  // fits two of the shorter sentences
  const std::string line = kFirst + " " + kFirst + "  " + kFirst;
  CHECK(scene.translate({"--document"}, line).out ==
        scene.whole(kFirst + " " + kFirst) + "  " + scene.whole(kFirst) + "\n");
  CHECK(scene.translate({"--document"}, kFirst).out == scene.whole(kFirst) + "\n");
  const Result refused = scene.translate({"--document", "--split", "never"}, line);
  CHECK(refused.code == kUsage);
  CHECK(refused.err.find("--document cannot be combined with --split never") != std::string::npos);
  CHECK(scene.translate({"--document", "--target", "a", "b"})
            .err.find("--document cannot be combined with --target") != std::string::npos);
}

TEST_CASE("every part of a line keeps the line's language mark") {
  const TemporaryDirectory directory;
  ModelFiles files = ModelFiles::good();
  Json vocabulary = files.json("vocab.json");
  const int id = vocabulary["▁children"].get<int>();
  vocabulary.erase("▁children");
  vocabulary[">>por<<"] = id;
  files.files["vocab.json"] = vocabulary.dump();
  const std::string model = files.write(directory, "model");
  const auto sources = [&](const std::string& line) {
    const Result result = run_program({.args = {"translate", "--model", model, "--split",
                                                "sentences", "--max-length", "4", "--json", "-"},
                                       .input = line + "\n"});
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    std::vector<std::string> tokens;
    for (const std::string& record : lines_of(result.out)) {
      tokens.push_back(Json::parse(record)["source"]["tokens"][0].get<std::string>());
    }
    return tokens;
  };
  const std::vector<std::string> marked(3, ">>por<<");
  CHECK(sources(">>por<< " + kLine) == marked);
  CHECK(sources("  >>por<< " + kLine) == marked);
  const std::vector<std::string> unknown = sources(">>deu<< " + kLine);  // ordinary text
  REQUIRE(unknown.size() == 3);
  CHECK(unknown[1] == sources(kLine)[1]);
}

TEST_CASE("evaluate scores what translate writes") {
  const SplitScene scene(8);
  const std::string source = scene.directory.write("a.en", kFirst + "\n" + kLine + "\n");
  const std::string target = scene.directory.write("a.de", "Die Gruppe.\nDie Gruppe ging. Wir.\n");
  const std::string out = scene.directory.path() + "/out.de";
  for (const std::string split : {"auto", "never", "sentences"}) {
    const Result scored =
        run_program({.args = {"evaluate", "--model", scene.model, "--source", source, "--target",
                              target, "--output", out, "--split", split}});
    REQUIRE_MESSAGE(scored.code == kDone, scored.err);
    const Result translated = scene.translate({"--split", split}, kFirst + "\n" + kLine + "\n");
    CHECK(read_file(out) == translated.out);
    CHECK(lines_of(translated.out).at(1) ==
          (split == "never" ? scene.whole(kLine) : scene.in_parts()));
  }
}

TEST_CASE(
    "train's and init's decode.longest_source goes into the directory, and convert keeps it") {
  const TemporaryDirectory scene;
  const std::string made = scene.path() + "/made", converted = scene.path() + "/converted";
  REQUIRE(run_program({.args = {"init", "--config", demo_config(), "--set",
                                "decode.longest_source=33", "--out", made}})
              .code == kDone);
  REQUIRE(run_program({.args = {"convert", "--model", made, "--out", converted}}).code == kDone);
  for (const std::string& directory : {made, converted}) {
    const Json json = Json::parse(read_file(directory + "/generation_config.json"));
    CHECK(json["longest_source"] == 33);
  }
}

TEST_CASE("--split refuses what it is not, and what it does not go with") {
  check_all({
      {"no such way",
       {"translate", "--split", "always", "The"},
       kUsage,
       {"--split always: expected never, sentences or auto"}},
      {"no such way of evaluate",
       {"evaluate", "--split", "word", "--source", "{dir}/a", "--target", "{dir}/b"},
       kUsage,
       {"--split word: expected never, sentences or auto"}},
      {"a given translation",
       {"translate", "--split", "sentences", "--target", "Die", "The"},
       kUsage,
       {"--split sentences cannot be combined with --target"}},
      {"an experiment",
       {"translate", "--split", "sentences", "--without", "cross:0:0", "The"},
       kUsage,
       {"--split sentences cannot be combined with --without, --force and --swap"}},
      {"lines without a model",
       {"evaluate", "--split", "never", "--hypotheses", "{dir}/a", "--target", "{dir}/b"},
       kUsage,
       {"--split cannot be combined with --hypotheses"}},
      {"a length that is none",
       {"init", "--config", "{demo}", "--set", "decode.longest_source=1", "--out", "{dir}/m"},
       kInput,
       {"decode.longest_source is 1; it counts the end symbol, so use 2 or more tokens"}},
  });
}

}  // namespace attn::test
