// Tests files that translate and other commands write and read: their notes, their names, and that
// they are complete or absent.
#include <doctest/doctest.h>

#include <filesystem>

#include <regex>

#include "bad_input.h"
#include "terminal.h"

namespace attn::test {
namespace {

Result at_random(std::vector<std::string> more, const std::string& input = "") {
  std::vector<std::string> args{"translate",    "--config", demo_config(), "--seed", "7",
                                "--max-length", "4"};
  args.insert(args.end(), more.begin(), more.end());
  return run_program({.args = std::move(args), .input = input});
}

/// Returns the notes about files, without sizes.
std::vector<std::string> written(const Result& result) {
  static const std::regex in_bytes(R"( \((\d+ files, )?\d+(\.\d)? k?M?B\))");
  std::vector<std::string> lines;
  for (const std::string& line : notes_of(result)) {
    if (!line.starts_with("note: wrote ")) continue;
    CHECK_MESSAGE(std::regex_search(line, in_bytes), line);
    lines.push_back(std::regex_replace(line, in_bytes, ""));
  }
  return lines;
}

BadCase named(const std::vector<std::string>& args, const std::string& message) {
  return {message, args, kUsage, {"attn-demo: " + message}};
}

}  // namespace

TEST_CASE("every file is named in one line, several of one option together") {
  const TemporaryDirectory scene;
  const auto file = [&](const char* name) { return scene.file(name); };
  const std::vector<std::string> views = {"--json", file("m.json"), "--html", file("m.html"),
                                          "--svg",  file("m.svg"),  "--png",  file("m.png"),
                                          "--pdf",  file("m.pdf"),  "--csv",  file("t")};
  std::vector<std::string> args = views;
  args.insert(args.end(), {"--", "The group", "We", "home"});
  const Result result = at_random(args);
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  const std::string wrote = "note: wrote ";
  std::vector<std::string> wanted = {wrote + file("m.html"), wrote + file("m.json")};
  const auto joined = [&](const std::vector<const char*>& names) {
    std::string line = wrote;
    for (const char* name : names) line += (line == wrote ? "" : ", ") + file(name);
    return line;
  };
  wanted.push_back(
      joined({"t/encoder.csv", "t/decoder.csv", "t/cross.csv", "t/tokens.csv", "t/sentences.csv"}));
  wanted.push_back(joined({"m.svg", "m-2.svg", "m-3.svg"}));
  wanted.push_back(joined({"m.png", "m-2.png", "m-3.png"}));
  wanted.push_back(joined({"m.pdf", "m-2.pdf", "m-3.pdf"}));
  CHECK(written(result) == wanted);
  for (const std::string name : {"m.pdf", "m-2.pdf", "m-3.pdf"}) {
    const std::string pdf = bytes_of(scene.file(name));
    CHECK(pdf.starts_with("%PDF-"));
    CHECK(pdf.find("%%EOF") != std::string::npos);
  }
  // Names of streams are not reported as files.
  CHECK(written(at_random({"--json", "/dev/stderr", "We"})).empty());
  CHECK(written(at_random({"--json", "-", "We"})).empty());
}

TEST_CASE("more than six files of one option stand in braces") {
  const TemporaryDirectory scene;
  std::vector<std::string> args = {"--svg", scene.file("a.svg"), "--"};
  for (int i = 0; i < 7; ++i) args.push_back("We");
  CHECK(written(at_random(args)) ==
        std::vector<std::string>{"note: wrote " + scene.file("a") + "{,-2,-3,-4,-5,-6,-7}.svg"});
  args.insert(args.begin(), {"--show", "all"});
  for (int i = 0; i < 2; ++i) args.push_back("We");
  CHECK(written(at_random(args)) ==
        std::vector<std::string>{"note: wrote " + scene.file("a") +
                                 "-{encoder,decoder,cross,2-encoder,…,9-cross}.svg"});
}

TEST_CASE("a terminal gets long errors wrapped at words, a pipe one line") {
  const std::vector<std::string> args = {"translate", "x", "--without", "cross:9:9x"};
  Terminal terminal(60);
  const Program program(in_a_shell({.args = args,
                                    .environment = {{"TERM", "xterm"}},
                                    .in_child = [&terminal] { terminal.become_controlling(); }}));
  CHECK(terminal.wait_for_exit(kUsage));
  CHECK(terminal.seen() ==
        "attn-demo: --without cross:9:9x: the head is \"9x\";\r\n"
        "  expected a whole number from 0, as in cross:0:1\r\n");
  CHECK(
      run_program({.args = args}).err ==
      "attn-demo: --without cross:9:9x: the head is \"9x\"; expected a whole number from 0, as in "
      "cross:0:1\n");
}

TEST_CASE("evaluate, explain, inspect and page name their files, too") {
  const TemporaryDirectory scene;
  const std::string source = scene.write("s.en", "The group\n");
  const std::string records = scene.file("r.json");
  REQUIRE(at_random({"--json", records, "We"}).code == kDone);
  const std::string config = demo_config();
  const std::string out = scene.file("o");
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"evaluate", "--config", config, "--source", source, "--target",
                                 source, "--output", out},
        {"explain", "--config", config, "We", "--json", out},
        {"inspect", "--config", config, "--json", out},
        {"page", records, "--html", out}}) {
    INFO(args[0]);
    CHECK(written(run_program({.args = args})) == std::vector<std::string>{"note: wrote " + out});
  }
}

TEST_CASE("a way back from a folder that is not there does not make it") {
  const TemporaryDirectory scene;
  CHECK(at_random({"--csv", scene.file("new/../tables"), "We"}).code == kDone);
  CHECK(std::filesystem::exists(scene.file("tables")));
  CHECK(!std::filesystem::exists(scene.file("new")));
}

TEST_CASE("bad input: names that say another kind") {
  check_all({
      named({"translate", "x", "--svg", "{dir}/a.pdf"},
            "--svg {dir}/a.pdf: the option writes SVG, but the name ends in .pdf; --pdf "
            "{dir}/a.pdf writes PDF"),
      named({"translate", "x", "--html", "{dir}/a.PNG"},
            "--html {dir}/a.PNG: the option writes HTML, but the name ends in .png; --png "
            "{dir}/a.PNG writes PNG"),
      named({"translate", "x", "--png", "{dir}/a.jpg"},
            "--png {dir}/a.jpg: the option writes PNG, but the name ends in .jpg; try --png "
            "{dir}/a.png"),
      named({"translate", "x", "--csv", "{dir}/a.csv"},
            "--csv {dir}/a.csv: expected a directory, since there are five tables; try --csv "
            "{dir}/a"),
      named(
          {"translate", "x", "--output", "{dir}/a.json"},
          "--output {dir}/a.json: the option writes plain text, but the name ends in .json; --json "
          "{dir}/a.json writes JSON"),
      named({"explain", "x", "--markdown", "{dir}/a.html"},
            "--markdown {dir}/a.html: the option writes Markdown, but the name ends in .html; try "
            "--markdown {dir}/a.md"),
      named({"page", "x", "--html", "{dir}/a.svg"},
            "--html {dir}/a.svg: the option writes HTML, but the name ends in .svg; --svg "
            "{dir}/a.svg writes SVG"),
  });
}

TEST_CASE("--words merges the tokens of files, too; --json holds both") {
  const TemporaryDirectory scene;
  const Result result =
      run_program({.args = {"translate", "The teacher was unforgettably kind.", "--words", "--csv",
                            scene.file("tables"), "--json", scene.file("maps.json"), "--svg",
                            scene.file("maps.svg")}});
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  const Json record = Json::parse(lines_of(bytes_of(scene.file("maps.json"))).front());
  const Json& words = record["words"];
  CHECK(words["source"] == Json({"The", "teacher", "was", "unforgettably", "kind", ".", "</s>"}));
  CHECK(record["source"]["tokens"].size() >
        words["source"].size());  // some word has several tokens
  const Json& maps = words["hypotheses"][0];
  REQUIRE(maps["cross"][2][2].size() == maps["target"].size());
  REQUIRE(maps["cross"][2][2][0].size() == words["source"].size());
  for (const Json& row : maps["cross"][2][2]) {
    double sum = 0;
    for (const Json& weight : row) sum += weight.get<double>();
    CHECK(sum == doctest::Approx(1).epsilon(1e-5));
  }
  const std::string cross = bytes_of(scene.file("tables/cross.csv"));
  CHECK(cross.find(",unforgettably,") != std::string::npos);
  CHECK(bytes_of(scene.file("maps.svg")).find(">unforgettably<") != std::string::npos);
}

TEST_CASE("what a sentence or a file hints at is said") {
  const TemporaryDirectory scene;
  const auto notes = [&](std::vector<std::string> args) {
    std::vector<std::string> found = notes_of(at_random(std::move(args)));
    if (!found.empty()) found.erase(found.begin());  // of random weights
    return found;
  };
  using Notes = std::vector<std::string>;
  CHECK(notes({" "}) == Notes{"note: the sentence is empty; there is nothing to translate"});
  CHECK(notes({"The group"}).empty());
  const Notes help = notes({"help"});
  REQUIRE_FALSE(help.empty());
  CHECK(help[0] ==
        "note: translating the sentence \"help\"; attn-demo help translate shows the options");
  CHECK(notes({"日本語", "--show", "none"}) ==
        Notes{"note: 1 piece not in the vocabulary became <unk> (▁日本語); translations leave out "
              "their own <unk>"});
  const Result spelled = run_program({.args = {"translate", "日本語", "--show", "none"}});
  CHECK(spelled.err == "");  // the shipped vocabulary has byte tokens
  CHECK(spelled.out == "日本語\n");
  const Result alike =
      run_program({.args = {"translate", "He is happy.", "--beam", "4", "--n-best", "3"}});
  CHECK(
      alike.err ==
      "note: translations 1 and 2 have the same text but different tokens; --json and --html show "
      "them\n");
  const Notes head = notes({"The group", "cross:1:0", "--show", "none"});
  REQUIRE_FALSE(head.empty());
  CHECK(head[0] == "note: translating cross:1:0 as a sentence; --show cross:1:0 shows the head");
}

TEST_CASE("whoever reads text refuses UTF-16") {
  const TemporaryDirectory scene;
  const std::string plain = scene.write("p.txt", "The group\n");
  for (const std::string start : {"\xff\xfe", "\xfe\xff"}) {
    const std::string path = scene.write("u.txt", start + "T");
    const auto reads = [&](const std::vector<std::string>& args) {
      INFO(args[0]);
      const Result result = run_program({.args = args});
      CHECK(result.code == kInput);
      CHECK(errors_of(result) ==
            std::vector<std::string>{"attn-demo: " + path +
                                     ": begins as UTF-16, expected UTF-8; save it as UTF-8, or use "
                                     "iconv -f UTF-16 -t UTF-8"});
    };
    const std::string config = demo_config();
    reads({"translate", "--config", config, "--input", path});
    reads({"evaluate", "--config", config, "--source", path, "--target", plain});
    reads({"evaluate", "--hypotheses", plain, "--target", path});
    reads({"evaluate", "--config", config, "--source", plain, "--target", plain, "--report",
           "--gold", path});
    reads({"tokenizer", "--source", plain, "--target", path, "--out", scene.file("t")});
    reads({"train", config, "--out", scene.file("o"), "--set", "data.train.source=" + plain,
           "--set", "data.train.target=" + path, "--set", "train.updates=1"});
  }
}

TEST_CASE("--input and --output: lines of a file into a file") {
  const TemporaryDirectory scene;
  const std::string text = "The group\n\nWe went\r\nhome";
  const std::string in = scene.write("in.txt", text);
  const Result piped = at_random({}, text);
  REQUIRE(piped.code == kDone);
  CHECK(lines_of(piped.out).size() == 4);
  const Result read = at_random({"--input", in});
  CHECK(read.code == kDone);
  CHECK(read.out == piped.out);
  const Result both = at_random({"--input", in, "--output", scene.file("out.txt")});
  CHECK(both.code == kDone);
  CHECK(both.out == "");
  CHECK(bytes_of(scene.file("out.txt")) == piped.out);
  CHECK(written(both) == std::vector<std::string>{"note: wrote " + scene.file("out.txt")});
  CHECK(at_random({"--input", "-", "--output", "-"}, text).out == piped.out);
  // Lists and alignments go there as well, and nothing else does.
  const std::vector<std::string> more = {"--beam", "2", "--n-best", "2", "--align", "average"};
  std::vector<std::string> args = more;
  args.insert(args.end(), {"--input", in, "--output", scene.file("list"), "--json", "-"});
  const Result list = at_random(args);
  CHECK(lines_of(list.out).size() == 4);
  CHECK(Json::accept(lines_of(list.out)[0]));
  CHECK(bytes_of(scene.file("list")) == at_random(more, text).out);
  // With sentences as arguments, the terminal stays quiet too.
  const Result argument = at_random({"--output", scene.file("one"), "The group"});
  CHECK(argument.out == "");
  CHECK(bytes_of(scene.file("one")) == lines_of(piped.out)[0] + "\n");
}

TEST_CASE("an empty --input is said") {
  const TemporaryDirectory scene;
  const std::string in = scene.write("in", "");
  const Result result = at_random({"--input", in});
  CHECK(result.code == kDone);
  CHECK(result.out == "");
  CHECK(result.err.find("note: " + in + " held no sentence\n") != std::string::npos);
}

TEST_CASE("a sentence that is a file's name gets a hint, and its translation") {
  const TemporaryDirectory scene;
  const std::string in = scene.write("in.txt", "We\n");
  const Result result = at_random({"--show", "none", in});
  CHECK(result.code == kDone);
  CHECK(lines_of(result.out).size() == 1);
  CHECK(result.err.find("note: translating " + in + " itself; --input " + in +
                        " reads the file\n") != std::string::npos);
  CHECK(at_random({"--show", "none", scene.path()}).err.find("--input") == std::string::npos);
}

TEST_CASE("bad input: --input and --output") {
  const auto text = [](const TemporaryDirectory& scene) { scene.write("t", "We\n"); };
  check_all({
      {"no such file",
       {"translate", "--input", "{dir}/none"},
       kSystem,
       {"{dir}/none: cannot open"}},
      {"a directory", {"translate", "--input", "{dir}"}, kSystem, {"is a directory"}},
      {"a sentence beside it",
       {"translate", "--input", "{dir}/t", "We"},
       kUsage,
       {"attn-demo: --input reads sentences from a file, so leave out the sentence \"We\""},
       text},
      {"over its input",
       {"translate", "--input", "{dir}/t", "--output", "{dir}/t"},
       kUsage,
       {"attn-demo: --output {dir}/t would overwrite the file of --input; give it another name"},
       text},
      {"no folder", {"translate", "We", "--output", "{dir}/no/t"}, kSystem, {"{dir}/no/t: cannot"}},
      {"what if",
       {"translate", "We", "--without", "cross:0", "--output", "{dir}/t"},
       kUsage,
       {"attn-demo: --output cannot be combined with --without, --force and --swap; use --json"}},
      {"a full disk",
       {"translate", "We", "--config", "{demo}", "--output", "/dev/full"},
       kSystem,
       {"/dev/full: cannot write"}},
  });
}

}  // namespace attn::test
