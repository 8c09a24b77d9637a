// Tests evaluate: scores of a model's translations and of given lines, and its errors.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>

#include "bad_input.h"

namespace attn::test {
namespace {

const std::string kSource =
    "The group went home\n\nWe\nto the a\nThe group of children\nwent went\n";
const std::string kTarget =
    "Die Gruppe ging nach Hause.\n\nWir\nzu dem a\nDie Gruppe der Kinder, 1.000,5\nging İ ΣΑΣ\n";
const std::string kHypotheses =
    "Die Gruppe ging nach hause.\nleer\nWir\n\nDie Gruppe der Kinder, 1.000,5 -\nGING\u00a0i̇ ΣΑς\n";

/// A directory with a corpus and a model, in which evaluate is run.
struct EvaluateScene {
  TemporaryDirectory directory;
  std::string source = directory.write("test.en", kSource);
  std::string target = directory.write("test.de", kTarget);
  std::string hypotheses = directory.write("out.de", kHypotheses);
  std::string model = ModelFiles::good().write(directory, "model");

  Result evaluate(std::vector<std::string> more) const {
    more.insert(more.begin(), {"evaluate", "--target", target});
    return run_program({.args = more});
  }
  Result of_model(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--model", model, "--source", source});
    return evaluate(more);
  }
  Result of_hypotheses(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--hypotheses", hypotheses});
    return evaluate(more);
  }
};

/// Returns the number after `name` at the start of a line.
std::string number_after(const std::string& text, const std::string& name) {
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with(name)) continue;
    const std::size_t begin = line.find_first_not_of(' ', name.size());
    return line.substr(begin, line.find(' ', begin) - begin);
  }
  return "no line " + name;
}

std::string fixed(const Json& number, int digits) {
  return fmt::format("{:.{}f}", number.get<double>(), digits);
}

/// Checks that the plain output has the same numbers as the JSON object.
void check_same(const std::string& plain, const Json& json) {
  CHECK(number_after(plain, "BLEU") == fixed(json["bleu"]["score"], 2));
  CHECK(number_after(plain, "chrF2") == fixed(json["chrf"]["score"], 2));
  CHECK(plain.find(json["bleu"]["signature"].get<std::string>() + "\n") != std::string::npos);
  CHECK(plain.find(json["chrf"]["signature"].get<std::string>() + "\n") != std::string::npos);
  CHECK(number_after(plain, "brevity penalty") == fixed(json["bleu"]["brevity_penalty"], 3));
  CHECK(number_after(plain, "precisions") == fixed(json["bleu"]["precisions"][0], 1));
  CHECK(number_after(plain, "length") == json["bleu"]["hypothesis_length"].dump());
  CHECK(number_after(plain, "sentences") == json["sentences"].dump());
}

}  // namespace

TEST_CASE("given lines are scored without a model, as sacreBLEU 2.6.0 scores them") {
  const EvaluateScene scene;
  const Result plain = scene.of_hypotheses({});
  CHECK(plain.code == kDone);
  CHECK(plain.err == "");
  const Result json = scene.of_hypotheses({"--json", "-"});
  REQUIRE(Json::accept(json.out));
  const Json report = Json::parse(json.out);
  check_same(plain.out, report);
  CHECK(report["bleu"]["score"].get<double>() == doctest::Approx(57.9314865854927).epsilon(1e-9));
  CHECK(report["chrf"]["score"].get<double>() == doctest::Approx(78.24172503524362).epsilon(1e-9));
  CHECK(report["bleu"]["correct"] == Json({12, 8, 6, 4}));
  CHECK(report["bleu"]["total"] == Json({18, 13, 10, 7}));
  CHECK(report["bleu"]["reference_length"] == 19);
  CHECK(report["target"] == scene.target);
  CHECK_FALSE(report.contains("translation"));
  const Json lower = Json::parse(scene.of_hypotheses({"--lowercase", "--json", "-"}).out);
  CHECK(lower["bleu"]["score"].get<double>() == doctest::Approx(84.3757801800896).epsilon(1e-9));
  CHECK(lower["chrf"]["score"].get<double>() == doctest::Approx(94.75311784835814).epsilon(1e-9));
  CHECK(lower["bleu"]["signature"].get<std::string>().find("case:lc") != std::string::npos);
}

TEST_CASE("several references, other words and TER are sacreBLEU 2.6.0's") {
  const EvaluateScene scene;
  const std::string second = scene.directory.write(
      "second.de", "Nach Hause ging die Gruppe.\nleer\nWir\nzum a\nDie Kindergruppe\nging\n");
  const Json report = Json::parse(
      scene.of_hypotheses({"--target", second, "--tokenize", "intl", "--json", "-"}).out);
  const auto is = [&](const char* metric, double expected) {
    CHECK(report[metric]["score"].get<double>() == doctest::Approx(expected).epsilon(1e-12));
  };
  is("bleu", 59.10241127251438);
  is("chrf_plus_plus", 74.62697195287926);
  is("ter", 20.689655172413794);
  CHECK(report["target"] == Json({scene.target, second}));
  CHECK(report["bleu"]["signature"].get<std::string>().starts_with(
      "nrefs:2|case:mixed|eff:no|tok:intl|"));
  CHECK_FALSE(report.contains("paired"));
}

TEST_CASE("another system is compared as by sacreBLEU 2.6.0's paired bootstrap") {
  const EvaluateScene scene;
  const std::string second = scene.directory.write(
      "second.de", "Nach Hause ging die Gruppe.\nleer\nWir\nzum a\nDie Kindergruppe\nging\n");
  const std::string other =
      scene.directory.write("other.de", "Gruppe nach Hause.\n\nWir\na\nKinder 1.000,5\nging\n");
  const std::vector<std::string> more = {"--target", second,        "--against",
                                         other,      "--resamples", "200"};
  const Result plain = scene.of_hypotheses(more);
  CHECK(plain.code == kDone);
  CHECK(plain.err == "");
  CHECK(plain.out.find(
            "BLEU     59.10 (52.86 ± 40.75)    against 42.61 (26.47 ± 24.34)    p 0.2388\n") !=
        std::string::npos);
  CHECK(plain.out.find(
            "TER      20.69 (21.44 ± 25.00)    against 34.48 (33.50 ± 17.02)    p 0.0945\n") !=
        std::string::npos);
  CHECK(plain.out.find("nrefs:2|bs:200|seed:12345|case:lc|tok:tercom|") != std::string::npos);
  std::vector<std::string> as_json = more;
  as_json.insert(as_json.end(), {"--json", "-"});
  const Json paired = Json::parse(scene.of_hypotheses(as_json).out)["paired"];
  CHECK(paired["against"] == other);
  CHECK(paired["samples"] == 200);
  CHECK(paired["seed"] == 12345);
  REQUIRE(paired["scores"].size() == 4);
  const Json& bleu = paired["scores"][0];
  CHECK(bleu["metric"] == "BLEU");
  CHECK(bleu["p_value"].get<double>() == 0.23880597014925373);
  CHECK(bleu["system"]["mean"].get<double>() == doctest::Approx(52.864349285363005).epsilon(1e-12));
  CHECK(bleu["against"]["confidence"].get<double>() ==
        doctest::Approx(24.341010920796798).epsilon(1e-12));
}

TEST_CASE("what does not go with scoring is refused") {
  const EvaluateScene scene;
  const auto refused = [&](std::vector<std::string> more, const std::string& message) {
    const Result result = scene.of_hypotheses(std::move(more));
    CHECK(result.code == kUsage);
    CHECK_MESSAGE(result.err.find(message) != std::string::npos, result.err);
  };
  refused({"--tokenize", "13A"}, "--tokenize 13A: expected 13a, intl, zh, char or none");
  refused({"--resamples", "10"}, "--resamples needs --against");
  refused({"--resampling-seed", "10"}, "--resampling-seed needs --against");
  refused({"--against", scene.hypotheses, "--resamples", "0"}, "--resamples");
  const std::string fewer = scene.directory.write("fewer.de", "a\n");
  const Result result = scene.of_hypotheses({"--target", fewer});
  CHECK(result.code != kDone);
  CHECK(result.err.find("fewer.de has 1; expected one reference for each sentence") !=
        std::string::npos);
}

TEST_CASE("a model's translations are scored, written and counted") {
  const EvaluateScene scene;
  const std::string out = scene.directory.file("written.de");
  const std::string json_file = scene.directory.file("scores.json");
  const Result plain = scene.of_model({"--output", out, "--json", json_file});
  CHECK(plain.code == kDone);
  CHECK(errors_of(plain).empty());
  const Result translated =
      run_program({.args = {"translate", "--model", scene.model}, .input = kSource});
  CHECK(bytes_of(out) == translated.out);
  CHECK(lines_of(translated.out).size() == 6);
  const Json report = Json::parse(bytes_of(json_file));
  check_same(plain.out, report);
  CHECK(report["translation"]["model"] == scene.model);
  CHECK(report["translation"]["tokens"] > 0);
  const Result given = scene.evaluate({"--hypotheses", out, "--json", "-"});
  CHECK(Json::parse(given.out)["bleu"] == report["bleu"]);
  CHECK(Json::parse(given.out)["chrf"] == report["chrf"]);
}

TEST_CASE("search options, batches and threads are those of translate") {
  const EvaluateScene scene;
  const std::string out = scene.directory.file("written.de");
  const std::vector<std::string> search = {"--beam",           "3",     "--length-penalty", "0.6",
                                           "--early-stopping", "never", "--max-length",     "7"};
  std::vector<std::string> args = {"translate", "--model", scene.model};
  args.insert(args.end(), search.begin(), search.end());
  const std::string expected = run_program({.args = args, .input = kSource}).out;
  for (const std::string size : {"1", "2", "32"}) {
    std::vector<std::string> more = {"--output", out, "--batch", size, "--threads", size};
    more.insert(more.end(), search.begin(), search.end());
    CHECK(scene.of_model(more).code == kDone);
    CHECK(bytes_of(out) == expected);
  }
  const Json run = Json::parse(
      scene.of_model({"--beam", "3", "--length-penalty", "0.6", "--max-length", "7", "--json", "-"})
          .out)["translation"];
  CHECK(run["beam"] == 3);
  CHECK(run["length_penalty"] == 0.6);
  CHECK(run["max_length"] == 7);
}

TEST_CASE("a random model says that its scores are noise") {
  const EvaluateScene scene;
  const Result result = scene.evaluate({"--config", demo_config(), "--source", scene.source});
  CHECK(result.code == kDone);
  CHECK(result.err.find("random weights (seed 1)") != std::string::npos);
}

TEST_CASE("line ends, a missing last one and invalid UTF-8 change no count") {
  const EvaluateScene scene;
  scene.directory.write("test.de", "a b c d\r\ne\xE2 f g h\r\n\xFF");
  scene.directory.write("out.de", "a b c d\ne\xE2 f g h\n\xFF");
  const Result result = scene.of_hypotheses({});
  CHECK(result.code == kDone);
  CHECK(number_after(result.out, "sentences") == "3");
  CHECK(number_after(result.out, "BLEU") == "100.00");
  CHECK(notes_of(result).size() == 2);
  CHECK(result.err.find("2 lines are not valid UTF-8") != std::string::npos);
}

TEST_CASE("bad input: evaluate's files") {
  const auto corpus = [](const std::string& source, const std::string& target) {
    return [=](const TemporaryDirectory& scene) {
      scene.write("en", source);
      scene.write("de", target);
    };
  };
  const std::vector<std::string> translate = {"evaluate", "--config", "{demo}",  "--source",
                                              "{dir}/en", "--target", "{dir}/de"};
  const std::vector<std::string> given = {"evaluate", "--hypotheses", "{dir}/en", "--target",
                                          "{dir}/de"};
  const auto with = [](std::vector<std::string> args, const std::vector<std::string>& more) {
    args.insert(args.end(), more.begin(), more.end());
    return args;
  };
  const std::string no_model = "cannot be combined with --hypotheses";
  check_all({
      {"more sources",
       translate,
       kInput,
       {"{dir}/en has 3 lines and {dir}/de has 2"},
       corpus("a\nb\n\n", "a\nb")},
      {"more references",
       given,
       kInput,
       {"{dir}/en has 1 line and {dir}/de has 2"},
       corpus("a\n", "a\nb\n")},
      {"counts before a model that is missing",
       {"evaluate", "--model", "{dir}/none", "--source", "{dir}/en", "--target", "{dir}/de"},
       kInput,
       {"{dir}/en has 1 line"},
       corpus("a\n", "a\nb\n")},
      {"no sentence", translate, kInput, {"{dir}/en and {dir}/de are empty"}, corpus("", "")},
      {"no hypothesis", given, kInput, {"are empty", "at least one sentence"}, corpus("", "")},
      {"no source file", translate, kSystem, {"{dir}/en", "No such file"}},
      {"no target file",
       given,
       kSystem,
       {"{dir}/de", "No such file"},
       [](const TemporaryDirectory& scene) { scene.write("en", "a\n"); }},
      {"no model",
       {"evaluate", "--model", "{dir}/none", "--source", "{dir}/en", "--target", "{dir}/de"},
       kSystem,
       {"{dir}/none"},
       corpus("a\n", "b\n")},
      {"a directory",
       {"evaluate", "--hypotheses", "{dir}", "--target", "{dir}"},
       kSystem,
       {"{dir}"}},
      {"neither source nor hypotheses",
       {"evaluate", "--target", "x"},
       kUsage,
       {"--source FILE", "--hypotheses FILE"}},
      {"no --target", {"evaluate", "--source", "x"}, kUsage, {"--target is required"}},
      {"hypotheses and a source", with(given, {"--source", "x"}), kUsage, {"--source", no_model}},
      {"hypotheses and a model", with(given, {"--model", "x"}), kUsage, {"--model", no_model}},
      {"hypotheses and a beam", with(given, {"--beam", "2"}), kUsage, {"--beam", no_model}},
      {"hypotheses and an output", with(given, {"--output", "x"}), kUsage, {"--output", no_model}},
      {"an output on stdout", with(translate, {"--output", "-"}), kUsage, {"--output -"}},
      {"an output over the source",
       with(translate, {"--output", "{dir}/./en"}),
       kUsage,
       {"would overwrite the file of --source"},
       corpus("a\n", "b\n")},
      {"JSON over the target",
       with(given, {"--json", "{dir}/de"}),
       kUsage,
       {"--json {dir}/de would overwrite the file of --target"},
       corpus("a\n", "b\n")},
      {"two outputs in one file",
       with(translate, {"--output", "{dir}/o", "--json", "{dir}/o"}),
       kUsage,
       {"name the same file"},
       corpus("a\n", "b\n")},
      {"an empty --target", {"evaluate", "--source", "x", "--target", ""}, kUsage, {"--target"}},
      {"an argument", with(given, {"sentence"}), kUsage, {"sentence"}},
      {"--n-best", with(translate, {"--n-best", "2"}), kUsage, {"--n-best"}},
      {"a beam of no number", with(translate, {"--beam", "2.5"}), kUsage, {"--beam 2.5"}},
      {"a batch of none", with(translate, {"--batch", "0"}), kUsage, {"--batch 0"}},
      {"an output in a missing directory",
       with(translate, {"--output", "{dir}/none/o"}),
       kSystem,
       {"{dir}/none/o"},
       corpus("a\n", "b\n")},
      {"a bad beam leaves no output",
       with(translate, {"--output", "{dir}/o", "--beam", "0"}),
       kUsage,
       {"--beam 0"},
       corpus("a\n", "b\n")},
      {"a bad model leaves no output",
       {"evaluate", "--model", "{dir}/none", "--source", "{dir}/en", "--target", "{dir}/de",
        "--output", "{dir}/o", "--json", "{dir}/j"},
       kSystem,
       {"{dir}/none"},
       corpus("a\n", "b\n")},
      {"scores to a full stdout",
       given,
       kSystem,
       {"stdout: cannot write: No space left"},
       corpus("a\n", "b\n"),
       "/dev/full"},
      {"translations to a full file",
       with(translate, {"--output", "/dev/full"}),
       kSystem,
       {"/dev/full: cannot write: No space left"},
       corpus("a\n", "b\n")},
  });
}

}  // namespace attn::test
