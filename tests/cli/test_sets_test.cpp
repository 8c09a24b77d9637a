// Tests that evaluate, translate --input and train read test sets, and that translate --targets
// scores given pairs.
#include <doctest/doctest.h>

#include "train_run.h"

namespace attn::test {
namespace {

std::string sgml_of(const std::string& set, const std::vector<std::string>& lines) {
  std::string text = "<" + set + " setid=\"t\">\n<doc docid=\"a\" sysid=\"r\">\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += "<seg id=\"" + std::to_string(i + 1) + "\">" + lines[i] + "</seg>\n";
  }
  return text + "</doc>\n</" + set + ">\n";
}

std::string table_of(const std::vector<std::string>& source,
                     const std::vector<std::string>& target) {
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) text += source[i] + "\t" + target[i] + "\n";
  return text;
}

Result run(const std::vector<std::string>& args) {
  return run_program({args});
}

struct Files {
  Files() {
    directory.write("s.en", "The group went home\nThe man went to the city\n");
    directory.write("t.de", "Die Gruppe ging nach Hause\nDer Mann ging in die Stadt\n");
    source = lines_of(bytes_of(directory.file("s.en")));
    target = lines_of(bytes_of(directory.file("t.de")));
    directory.write("s.sgm", sgml_of("srcset", source));
    directory.write("t.sgm", sgml_of("refset", target));
    directory.write("both.txt", table_of(source, target));
    directory.write("other.xml", "<?xml version=\"1.0\"?>\n<xliff>text</xliff>\n");
  }
  std::string file(const std::string& name) const { return directory.file(name); }
  TemporaryDirectory directory;
  std::vector<std::string> source, target;
};

}  // namespace

TEST_CASE("translate --input reads a test set as its plain lines") {
  const Files files;
  const Result plain = run({"translate", "--input", files.file("s.en")});
  REQUIRE(plain.code == kDone);
  for (const std::string name : {"s.sgm", "both.txt"}) {
    const Result found = run({"translate", "--input", files.file(name)});
    CHECK(found.code == kDone);
    CHECK(found.out == plain.out);
    CHECK(found.err.find(": read as ") != std::string::npos);
  }
  const Result other = run({"translate", "--input", files.file("other.xml")});
  CHECK(other.code == kInput);
  CHECK(other.err.find("<xliff>") != std::string::npos);
  CHECK(other.out.empty());
}

TEST_CASE("a test set on stdin is read as one, too") {
  const Files files;
  Request request{{"translate"}};
  request.input = bytes_of(files.file("s.sgm"));
  CHECK(run_program(request).out == run({"translate", "--input", files.file("s.en")}).out);
  request.input = bytes_of(files.file("other.xml"));
  CHECK(run_program(request).code == kInput);
}

TEST_CASE("evaluate scores test sets as their plain lines") {
  const Files files;
  const auto scores = [&](const std::string& source, const std::string& target) {
    const Result found = run({"evaluate", "--hypotheses", files.file(source), "--target",
                              files.file(target), "--json", "-"});
    REQUIRE_MESSAGE(found.code == kDone, found.err);
    Json json = Json::parse(found.out);
    json.erase("hypotheses");
    json.erase("target");
    json.erase("targets");
    return json;
  };
  CHECK(scores("t.de", "t.sgm") == scores("t.de", "t.de"));
  CHECK(scores("t.sgm", "both.txt") == scores("t.de", "t.de"));
}

TEST_CASE("train reads a table as both of its sides, with the same model as from plain files") {
  TrainScene scene;
  scene.must_train("plain");
  const std::vector<std::string> source = lines_of(bytes_of(scene.file("train.en")));
  const std::vector<std::string> target = lines_of(bytes_of(scene.file("train.de")));
  scene.directory.write("both.tsv", table_of(source, target));
  scene.config["data"]["train"] = {{"source", scene.file("both.tsv")},
                                   {"target", scene.file("both.tsv")}};
  const Result result = scene.train("table");
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  CHECK(result.err.find("both.tsv: read as TSV") != std::string::npos);
  const bool same = bytes_of(scene.file("plain/model/model.safetensors")) ==
                    bytes_of(scene.file("table/model/model.safetensors"));
  CHECK(same);
}

TEST_CASE("translate --targets gives one record per pair, as --target does for one") {
  const Files files;
  const Result all = run({"translate", "--input", files.file("s.en"), "--targets",
                          files.file("t.de"), "--align", "cross:0:0", "--json", "-"});
  REQUIRE_MESSAGE(all.code == kDone, all.err);
  const std::vector<std::string> lines = lines_of(all.out);
  REQUIRE(lines.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const Result one = run({"translate", files.source[i], "--target", files.target[i], "--align",
                            "cross:0:0", "--json", "-"});
    CHECK(lines_of(one.out).front() == lines[i]);
  }
  const Result text =
      run({"translate", "--input", files.file("s.en"), "--targets", files.file("t.de")});
  CHECK(lines_of(text.out).size() == 2);
}

TEST_CASE("options of the search are named where the translation is given") {
  const Files files;
  const Result pairs =
      run({"translate", "--input", files.file("s.en"), "--targets", files.file("t.de"), "--term",
           "group=Truppe", "--beam", "4", "--length-penalty", "2"});
  CHECK(pairs.code == kDone);
  CHECK(pairs.err.find("--beam and --term have no effect: nothing is searched, because --targets "
                       "gives the translation") != std::string::npos);
  const Result one =
      run({"translate", files.source[0], "--target", files.target[0], "--forbid", "Haus"});
  CHECK(one.err.find("--forbid has no effect") != std::string::npos);
  CHECK(run({"translate", files.source[0], "--target", files.target[0], "--length-penalty", "2"})
            .err.find("no effect") == std::string::npos);
}

TEST_CASE("translate --targets refuses files that do not match, naming both") {
  const Files files;
  files.directory.write("short.de", "Die Gruppe ging nach Hause\n");
  const Result few =
      run({"translate", "--input", files.file("s.en"), "--targets", files.file("short.de")});
  CHECK(few.code == kInput);
  CHECK(few.err.find("has 2 lines") != std::string::npos);
  CHECK(few.out.empty());
  CHECK(run({"translate", "A", "--targets", files.file("t.de")}).code == kUsage);
}

}  // namespace attn::test
