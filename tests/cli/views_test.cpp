// Tests pictures, tables, pages, reports and alignments that translate writes in addition to the
// record.
#include <doctest/doctest.h>

#include <cstdlib>

#include "bad_input.h"
#include "base/at.h"
#include "base/json_writer.h"
#include "record/json/record_reader.h"
#include "view/data/csv_reader.h"
#include "view/page/page_html.h"
#include "view/svg/expat_xml.h"

namespace attn::test {
namespace {

Result translate(std::vector<std::string> args, std::string input = "") {
  args.insert(args.begin(), {"translate", "--config", demo_config()});
  return run_program({.args = std::move(args), .input = std::move(input)});
}

Result good(std::vector<std::string> args, std::string input = "") {
  const Result result = translate(std::move(args), std::move(input));
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  return result;
}

/// Returns the data in a page.
Json page_data(const std::string& path) {
  const std::string page = bytes_of(path);
  const std::string begin = R"(id="attn-data">)";
  const std::size_t at = page.find(begin);
  REQUIRE(at != std::string::npos);
  const std::size_t from = at + begin.size();
  return Json::parse(page.substr(from, page.find("</script>", from) - from));
}

/// Returns a record in the form of a page's records, with all details.
Json in_page(const Json& record) {
  return Json::parse(page_record(record_from_json(Json::parse(record.dump()), "record"),
                                 {.vectors = true, .search = true}));
}

/// Returns the cross-attention of an experiment's teacher-forced translation in the same form.
Json replayed_cross(const Json& experiment) {
  Json record = experiment["after"];
  record["hypotheses"] = Json::array({experiment["replayed"]});
  return in_page(record)["hypotheses"][0]["cross"];
}

const Json& maps_of_kind(const Json& record, const std::string& kind) {
  if (kind == "encoder") return record["encoder_self"];
  return record["hypotheses"][0][kind == "decoder" ? "decoder_self" : "cross"];
}

/// Returns the shortest decimal form, which every view writes.
std::string decimal(const Json& weight) {
  std::string text;
  append_number(text, weight.get<float>());
  return text;
}

/// Checks that each small map of a picture shows the weights of its head in the record.
void check_picture(const std::string& svg, const Json& record, const std::string& kind) {
  const Document picture(svg);
  const Json& maps = maps_of_kind(record, kind);
  std::size_t compared = 0;
  for (const int index : picture.find("g", "map")) {
    const Node& map = picture.at(index);
    CHECK(map.get("id") == kind + "-" + map.get("data-layer") + "-" + map.get("data-head"));
    const auto layer = static_cast<std::size_t>(map.number("data-layer"));
    const auto head = static_cast<std::size_t>(map.number("data-head"));
    std::string wanted;
    for (const Json& row : maps[layer][head]) {
      if (!wanted.empty()) wanted += ';';
      for (std::size_t k = 0; k < row.size(); ++k) {
        wanted += (k > 0 ? " " : "") + decimal(row[k]);
      }
    }
    CHECK(map.get("data-weights") == wanted);
    ++compared;
  }
  CHECK(compared == maps.size() * maps[0].size());
}

/// Checks that each row of a table is a cell of the record, and that each cell has a row.
void check_table(const std::string& csv, const Json& record, const std::string& kind) {
  const std::vector<Row> rows = read_csv(csv);
  const Json& maps = maps_of_kind(record, kind);
  const std::size_t cells = maps.size() * maps[0].size() * maps[0][0].size() * maps[0][0][0].size();
  REQUIRE(rows.size() == cells + 1);
  const auto column = [&](const std::string& name) {
    return to_size(std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin());
  };
  const std::size_t layer = column("layer"), head = column("head"), query = column("query"),
                    key = column("key"), weight = column("weight");
  REQUIRE(weight < rows[0].size());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const auto at = [&](std::size_t where) { return std::stoul(rows[i][where]); };
    const Json& cell = maps[at(layer)][at(head)][at(query)][at(key)];
    CHECK(rows[i][weight] == decimal(cell));
  }
}

}  // namespace

TEST_CASE("JSON, SVG, CSV and the page hold the same numbers, for each kind") {
  const TemporaryDirectory scene;
  const Result result = good({kDemoSource,
                              "--target",
                              kDemoTarget,
                              "--show",
                              "all",
                              "--json",
                              scene.file("m.json"),
                              "--svg",
                              scene.file("m.svg"),
                              "--png",
                              scene.file("m.png"),
                              "--png-scale",
                              "0.5",
                              "--csv",
                              scene.file("deep/csv"),
                              "--html",
                              scene.file("m.html"),
                              "--vectors",
                              "--why",
                              "--report",
                              "--align"});
  const Json record = Json::parse(lines_of(bytes_of(scene.file("m.json"))).at(0));
  for (const std::string kind : {"encoder", "decoder", "cross"}) {
    CAPTURE(kind);
    check_picture(bytes_of(scene.file("m-" + kind + ".svg")), record, kind);
    check_table(bytes_of(scene.file("deep/csv/" + kind + ".csv")), record, kind);
    const std::string png = bytes_of(scene.file("m-" + kind + ".png"));
    CHECK(png.starts_with("\x89PNG\r\n\x1a\n"));
    CHECK(png.find("IEND") != std::string::npos);
  }
  const Json page = page_data(scene.file("m.html"));
  CHECK(page["records"] == Json::array({in_page(record)}));
  CHECK(record["vectors"].contains("encoder_self"));
  CHECK(record["report"]["encoder_self"].size() == record["encoder_self"].size());
  CHECK(listing(scene.path()).size() == 15);  // no files other than the requested ones
}

TEST_CASE("an experiment goes into every view, before and after") {
  const TemporaryDirectory scene;
  const Result result =
      good({kDemoSource, "--max-length", "8", "--beam", "2", "--without", "cross:1:0", "--without",
            "decoder:0", "--json", scene.file("e.json"), "--html", scene.file("e.html"), "--svg",
            scene.file("e.svg"), "--csv", scene.file("csv"), "--vectors"});
  CHECK(result.out.find("changed: without cross:1:0") != std::string::npos);
  CHECK(result.out.find("Cross-attention") == std::string::npos);  // the maps went to the files
  const Json experiment = Json::parse(bytes_of(scene.file("e.json")));
  const Json records = page_data(scene.file("e.html"))["records"];
  REQUIRE(records.size() == 2);
  CHECK(!records[0].contains("changes"));
  CHECK(!records[0].contains("search"));
  CHECK(records[1]["changes"] == Json::array({"without cross:1:0", "without decoder:0"}));
  for (std::size_t i = 0; i < 2; ++i) {
    CAPTURE(i);
    const Json& one = experiment[i == 0 ? "before" : "after"];
    const Json expected = in_page(one);
    for (const char* key : {"source", "encoder_self", "vectors"}) {
      CHECK(records[i][key] == expected[key]);
    }
    CHECK(records[i]["hypotheses"][0]["cross"] == expected["hypotheses"][0]["cross"]);
    const std::string svg = bytes_of(scene.file(i == 0 ? "e-cross.svg" : "e-2-cross.svg"));
    check_picture(svg, one, "cross");
    CHECK((svg.find("changed: without cross:1:0, without decoder:0") != std::string::npos) ==
          (i == 1));
    CHECK(svg.find("cross:1:0 (of 2 layers × 2 heads)") != std::string::npos);
  }
  // The effect of the change on the first translation is recorded beside it.
  const Json& after = records[1]["hypotheses"];
  REQUIRE(after.size() == 2);
  CHECK(!after[0].contains("replayed"));
  CHECK(after[1]["replayed"] == true);
  // A disabled head has no metrics, and is never used for alignment.
  const Json& off = after[0]["report"]["cross"][1][0];
  for (const auto& figure : off.items()) CHECK_MESSAGE(figure.value().is_null(), figure.key());
  CHECK(after[0]["alignment"]["from"] != "cross:1:0");
  CHECK(after.back()["ids"] == experiment["replayed"]["ids"]);
  CHECK(after.back()["cross"] == replayed_cross(experiment));
  CHECK(after.back()["score"] == experiment["replayed"]["score"]);
  std::size_t cells = 0;
  for (const char* which :
       {"before", "after"}) {  // tables contain only the translations that were found
    const Json& cross = experiment[which]["hypotheses"][0]["cross"];
    cells += cross.size() * cross[0].size() * cross[0][0].size() * cross[0][0][0].size();
  }
  CHECK(read_csv(bytes_of(scene.file("csv/cross.csv"))).size() == cells + 1);
}

TEST_CASE("page takes an experiment's JSON as its two records") {
  const TemporaryDirectory scene;
  good(
      {kDemoSource, "--max-length", "8", "--without", "decoder:0", "--json", scene.file("e.json")});
  const auto page = [&] {
    return run_program({.args = {"page", scene.file("e.json"), "--html", scene.file("p.html")}});
  };
  const Result made = page();
  REQUIRE_MESSAGE(made.code == kDone, made.err);
  Json experiment = Json::parse(bytes_of(scene.file("e.json")));
  const Json records = page_data(scene.file("p.html"))["records"];
  REQUIRE(records.size() == 2);
  CHECK(records[0] == in_page(experiment["before"]));
  CHECK(records[1]["changes"] == experiment["changes"]);
  REQUIRE(records[1]["hypotheses"].size() == 2);
  CHECK(records[1]["hypotheses"][1]["cross"] == replayed_cross(experiment));
  CHECK(records[1]["hypotheses"][1]["replayed"] == true);
  for (const char* key : {"before", "after", "replayed"}) {
    CAPTURE(key);
    Json broken = experiment;
    broken.erase(key);
    scene.write("e.json", broken.dump() + "\n");
    CHECK(page().code == kInput);
  }
}

TEST_CASE("no output takes the place of another or of an input") {
  const TemporaryDirectory scene;
  good({kDemoSource, "--max-length", "4", "--json", scene.file("r")});
  const std::string before = bytes_of(scene.file("r"));
  const Result page = run_program({.args = {"page", scene.file("r"), "--html", scene.file("r")}});
  CHECK(page.code == kUsage);
  CHECK(page.err.find("overwrite") != std::string::npos);
  CHECK(bytes_of(scene.file("r")) == before);
  for (const std::string name : {"q-2", "q-cross"}) {
    const Result result = translate({kDemoSource, "The group", "--max-length", "4", "--show",
                                     name == "q-2" ? "cross" : "all", "--svg", scene.file("q"),
                                     "--html", scene.file(name)});
    CHECK(result.code == kUsage);
    CHECK(result.err.find(name) != std::string::npos);
    CHECK(!std::filesystem::exists(scene.file(name)));
  }
}

TEST_CASE("views of an empty stdin say that there is nothing to show") {
  const TemporaryDirectory scene;
  CHECK(good({"--svg", scene.file("n.svg")}).err.find("no sentence") != std::string::npos);
  CHECK(listing(scene.path()).empty());
}

TEST_CASE("JSON without a page holds no vectors, and --vectors puts them in") {
  const auto record = [](std::vector<std::string> more) {
    more.insert(more.begin(), {kDemoSource, "--target", kDemoTarget, "--json", "-"});
    return Json::parse(lines_of(good(more).out)[0]);
  };
  const Json plain = record({});
  CHECK(!plain.contains("vectors"));
  CHECK(!plain.contains("report"));
  CHECK(!plain["hypotheses"][0].contains("alignment"));
  CHECK(!plain.contains("way"));
  CHECK(plain["decoding"].dump() == R"({"given":true})");
  const Json& others = plain["hypotheses"][0]["alternatives"];
  CHECK(others["tokens"][0].size() == 10);
  CHECK(!others.contains("logits"));
  const Json more = record({"--vectors", "--report"});
  CHECK(more["vectors"]["encoder_self"]["query"].is_string());
  CHECK(more["way"][0]["stage"] == "token");
  CHECK(more["hypotheses"][0]["way"].back()["block"] == "feed_forward");
  CHECK(more["hypotheses"][0]["alternatives"]["logits"][0].size() == 10);
  CHECK(more["hypotheses"][0]["report"]["cross"][0][0]["entropy"].is_number());
}

TEST_CASE("a picture shows the head that --show names, of the requested hypothesis") {
  const TemporaryDirectory scene;
  good({kDemoSource, "--beam", "2", "--n-best", "2", "--hypothesis", "2", "--show", "decoder:1:0",
        "--svg", scene.file("h.svg"), "--json", scene.file("h.json")});
  const Document picture(bytes_of(scene.file("h.svg")));
  REQUIRE(picture.find("g", "head").size() == 1);
  CHECK(picture.at(picture.find("g", "head")[0]).get("id") == "decoder-1-0-large");
  const Json record = Json::parse(bytes_of(scene.file("h.json")));
  const Json& second = record["hypotheses"][1]["decoder_self"][1][0];
  const std::vector<int> cells = picture.find("g", "cell");
  std::size_t i = 0;
  for (const Json& row : second) {
    for (const Json& weight : row)
      CHECK(picture.at(cells[i++]).get("data-weight") == decimal(weight));
  }
  CHECK(i == cells.size());
}

TEST_CASE("pictures of the best head and of a mean of heads") {
  const TemporaryDirectory scene;
  const auto large = [&](const std::string& show) {
    good({kDemoSource, "--target", kDemoTarget, "--align", "best", "--show", show, "--svg",
          scene.file("h.svg"), "--json", scene.file("h.json")});
    const Document picture(bytes_of(scene.file("h.svg")));
    REQUIRE(picture.find("g", "head").size() == 1);
    return picture.at(picture.find("g", "head")[0]).get("id");
  };
  std::string best = large("best");
  const Json record = Json::parse(bytes_of(scene.file("h.json")));
  CHECK(large("cross:best") == best);
  std::replace(best.begin(), best.end(), '-', ':');
  CHECK(best == record["hypotheses"][0]["alignment"]["from"].get<std::string>() + ":large");
  CHECK(large("cross:0:best").starts_with("cross-0-"));
  CHECK(large("cross:1:mean") == "cross-1-mean-large");
  CHECK(large("encoder:mean") == "encoder-mean-mean-large");
}

TEST_CASE("several sentences: a picture each, tables and a page together") {
  const TemporaryDirectory scene;
  good({"The group went home", "The group", "--svg", scene.file("m.svg"), "--csv", scene.file("t"),
        "--html", scene.file("p.html"), "--max-length", "8"});
  CHECK(Document(bytes_of(scene.file("m.svg"))).texts().find("The group went home") !=
        std::string::npos);
  CHECK(Document(bytes_of(scene.file("m-2.svg"))).texts().find("The group\n") != std::string::npos);
  CHECK(read_csv(bytes_of(scene.file("t/sentences.csv"))).size() == 3);
  const Json page = page_data(scene.file("p.html"));
  CHECK(page["records"].size() == 2);
  CHECK(page["heads"]["sentences"] == 2);
}

TEST_CASE("a page of many sentences holds vectors and searches only where they are requested") {
  const TemporaryDirectory scene;
  std::string lines;
  for (int i = 0; i < 60; ++i) lines += "the group went home and the group went home\n";
  const auto page = [&](std::vector<std::string> more) {
    more.insert(more.end(),
                {"--html", scene.file("p.html"), "--max-length", "20", "--d-model", "96"});
    const Result result = good(std::move(more), lines);
    return std::pair(result.err, page_data(scene.file("p.html"))["records"]);
  };
  const auto [quiet, plain] = page({});
  CHECK(quiet.find("note: " + scene.file("p.html") +
                   ": no queries, keys and values, which explain a cell: with them it would take "
                   "more than 5.0 MB; --vectors puts them in\n") != std::string::npos);
  CHECK(quiet.find("will take") == std::string::npos);
  REQUIRE(plain.size() == 60);
  for (const Json& record : plain) {
    CHECK(!record.contains("vectors"));
    CHECK(!record["hypotheses"][0].contains("vectors"));
    CHECK(!record["hypotheses"][0].contains("why"));
    // 4 bytes and a half for a weight, 5 kB for tokens and figures, 400 bytes for the likeliest
    // pieces of a step.
    const std::size_t s = record["source"]["ids"].size();
    const std::size_t t = record["hypotheses"][0]["ids"].size();
    const std::size_t cells = 4 * (s * s + t * (t + 1) / 2 + s * t);
    CHECK(record.dump().size() < cells * 9 / 2 + 5000 + t * 400);
  }
  // Trees take several times the space of maps: unless requested, they are left out at 2 MB.
  const auto [few, trees] = page({"--beam", "4"});
  CHECK(few.find("note: " + scene.file("p.html") +
                 ": no queries, keys, values, which explain a cell, and search trees: with them it "
                 "would take more than 2.0 MB; --vectors and --tree put them in\n") !=
        std::string::npos);
  CHECK(trees.dump().size() < 2'000'000);
  for (const Json& record : trees) CHECK(!record.contains("search"));
  const auto [told, whole] = page({"--vectors"});
  for (const Json& record : whole) CHECK(record.contains("vectors"));
  CHECK(told.find("no vectors") == std::string::npos);
  CHECK(told.find("note: " + scene.file("p.html") + " will take ") != std::string::npos);
}

TEST_CASE("JSON beside a page is the JSON that it is alone") {
  const TemporaryDirectory scene;
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--beam", "3"},
                                               {"--beam", "3", "--tree", "--vectors"},
                                               {"--report"},
                                               {"--align", "average"},
                                               {"--without", "cross:0:1"},
                                               {"--without", "cross:0:1", "--report"}}) {
    std::vector<std::string> arguments = {kDemoSource, "--max-length", "6", "--json",
                                          scene.file("m.json")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    good(arguments);
    const std::string alone = bytes_of(scene.file("m.json"));
    arguments.insert(arguments.end(), {"--html", scene.file("m.html")});
    good(arguments);
    CHECK_MESSAGE(bytes_of(scene.file("m.json")) == alone, more.front());
  }
}

TEST_CASE("--tree: the search in JSON, as a picture, in the page") {
  const TemporaryDirectory scene;
  good({kDemoSource, "--beam", "3", "--max-length", "6", "--tree", "--vectors", "--why", "--report",
        "--align", "--svg", scene.file("t.svg"), "--json", scene.file("t.json"), "--html",
        scene.file("t.html")});
  const Json record = Json::parse(lines_of(bytes_of(scene.file("t.json"))).at(0));
  const Json& nodes = record["search"]["nodes"];
  REQUIRE(nodes.size() > 6);
  const Document picture(bytes_of(scene.file("t.svg")));
  std::size_t drawn = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const std::string id = "node-" + std::to_string(i);
    for (const int index : picture.find("g", "node")) {
      if (picture.at(index).get("id") != id) continue;
      ++drawn;
      CHECK(picture.at(index).get("data-sum") == decimal(nodes[i]["sum"]));
      CHECK(picture.at(index).get("data-parent") == nodes[i]["parent"].dump());
    }
  }
  CHECK(drawn == nodes.size());
  CHECK(page_data(scene.file("t.html"))["records"][0] == in_page(record));
}

TEST_CASE("--report: on the terminal, in JSON for each sentence and for all") {
  const TemporaryDirectory scene;
  const Result result = good({"The group went home", "The group", "--max-length", "8", "--report",
                              "--json", scene.file("r.jsonl")});
  for (const std::string part : {"over 2 sentences", "encoder:0:0", "cross:1:1", "entropy"}) {
    CHECK_MESSAGE(result.out.find(part) != std::string::npos, part);
  }
  CHECK(result.out.find("reads  → writes") == std::string::npos);  // no maps beside it
  const std::vector<std::string> lines = lines_of(bytes_of(scene.file("r.jsonl")));
  REQUIRE(lines.size() == 3);
  CHECK(Json::parse(lines[0])["report"]["encoder_self"][0][0]["distance"].is_number());
  const Json all = Json::parse(lines[2]);
  CHECK(all["format"] == "attn-demo.heads");
  CHECK(all["sentences"] == 2);
  // An output on stdout is not mixed with others.
  const Result json = good({kDemoSource, "--max-length", "8", "--report", "--json", "-"});
  CHECK(lines_of(json.out).size() == 2);
  CHECK(Json::parse(lines_of(json.out)[1])["format"] == "attn-demo.heads");
}

TEST_CASE("--report of an experiment: figures before and after, of all its sentences") {
  const TemporaryDirectory scene;
  const std::string json = scene.file("w.jsonl");
  const Result result = good({kDemoSource, "The group", "--max-length", "8", "--without",
                              "cross:1:1", "--report", "--json", json});
  const std::size_t table = result.out.find("over 2 sentences, before and after\n");
  REQUIRE_MESSAGE(table != std::string::npos, result.out);
  CHECK(result.out.find("Before\n") == std::string::npos);  // no maps beside it
  // A disabled head has metrics only for before.
  static const std::regex off(R"(cross:1:1  before( +\d\.\d\d){7}\n           after ( +–){7}\n)");
  CHECK_MESSAGE(std::regex_search(result.out, off), result.out);
  CHECK(result.out.find("encoder:0:0") ==
        std::string::npos);  // the encoder comes before the changed layer
  const std::vector<std::string> lines = lines_of(bytes_of(json));
  REQUIRE(lines.size() == 2);
  for (const std::string& line : lines) {
    const Json record = Json::parse(line);
    const auto figures = [&](const char* run) {
      return record[run]["hypotheses"][0]["report"]["cross"][1][1]["entropy"];
    };
    CHECK(figures("before").is_number());
    CHECK(figures("after").is_null());
  }
  // An output on stdout is not mixed with others.
  const Result alone =
      good({kDemoSource, "--max-length", "8", "--without", "cross:1:1", "--report", "--json", "-"});
  CHECK(lines_of(alone.out).size() == 1);
}

TEST_CASE("--align: a line under each translation, from stdin, too") {
  const auto alignment = [](std::vector<std::string> more) {
    more.insert(more.begin(), {kDemoSource, "--target", kDemoTarget});
    const std::vector<std::string> lines = lines_of(good(more).out);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0] == kDemoTarget);
    return lines[1];
  };
  static const std::regex pharaoh(R"(\d+-\d+( \d+-\d+)*)");
  static const std::regex weighted(R"(\d+-\d+:0\.\d+( \d+-\d+:0\.\d+)*)");
  for (const std::string from :
       {"best", "average", "rollout", "layer:1", "cross:1:1", "read:0:1"}) {
    CAPTURE(from);
    const std::string line = alignment({"--align", from});
    CHECK(std::regex_match(line, pharaoh));
    CHECK(lines_of(line + "\n").size() == 1);
  }
  CHECK(alignment({"--align"}) == alignment({"--align", "best"}));
  CHECK(std::regex_match(alignment({"--align", "average", "--align-weights"}), weighted));
  CHECK(alignment({"--align", "average", "--align-least", "0"}).size() >
        alignment({"--align", "average"}).size());
  const Result several = good({"--align", "--max-length", "6"}, "The group\n\nhome\n");
  const std::vector<std::string> lines = lines_of(several.out);
  REQUIRE(lines.size() == 6);
  CHECK(lines[2].empty());
  CHECK(lines[3].empty());
}

TEST_CASE("best is the best head of all sentences together") {
  const TemporaryDirectory scene;
  const std::string input = "The group went home\nThe group\nhome\n";
  good({"--max-length", "8", "--align", "--report", "--json", scene.file("b.jsonl")}, input);
  const std::vector<std::string> lines = lines_of(bytes_of(scene.file("b.jsonl")));
  REQUIRE(lines.size() == 4);
  const Json best = Json::parse(lines[3])["best"][0];
  const std::string name = "cross:" + best["layer"].dump() + ":" + best["head"].dump();
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(Json::parse(lines[i])["hypotheses"][0]["alignment"]["from"] == name);
  }
}

TEST_CASE("page: records written before, and a training run's moments") {
  const TemporaryDirectory scene;
  good({kDemoSource, "--max-length", "8", "--report", "--json", scene.file("one.json")});
  Json record = Json::parse(lines_of(bytes_of(scene.file("one.json")))[0]);
  record["model"]["update"] = 7;
  scene.write("moment.jsonl", record.dump() + "\n");
  const Result result =
      run_program({.args = {"page", scene.file("one.json"), scene.file("moment.jsonl"), "--html",
                            scene.file("p.html")}});
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  const Json page = page_data(scene.file("p.html"));
  REQUIRE(page["records"].size() == 2);
  CHECK(page["records"][1] == in_page(record));
  CHECK(!page.contains("heads"));  // they would cover one sentence, and there are two files
}

TEST_CASE("page: the figures over all sentences of a file go with it") {
  const TemporaryDirectory scene;
  good({kDemoSource, "The group", "--max-length", "8", "--report", "--json",
        scene.file("two.jsonl")});
  const std::vector<std::string> lines = lines_of(bytes_of(scene.file("two.jsonl")));
  REQUIRE(lines.size() == 3);
  const auto page = [&] {
    return run_program({.args = {"page", scene.file("two.jsonl"), "--html", scene.file("p.html")}});
  };
  REQUIRE(page().code == kDone);
  CHECK(page_data(scene.file("p.html"))["heads"] == Json::parse(lines[2]));
  const std::string records = lines[0] + "\n" + lines[1] + "\n";
  // The statistics are not the last line, or cover more sentences than there are, so they belong
  // to other records.
  for (const std::string& text : {records + lines[2] + "\n" + lines[0] + "\n",
                                  lines[2] + "\n" + records, lines[0] + "\n" + lines[2] + "\n"}) {
    scene.write("two.jsonl", text);
    REQUIRE(page().code == kDone);
    CHECK(!page_data(scene.file("p.html")).contains("heads"));
  }
  for (const auto& change : std::vector<std::pair<std::string, std::string>>{
           {"\"entropy\":", "\"entropy\":\"\",\"old\":"},
           {"\"sentences\":2", "\"sentences\":-2"},
           {"\"cross\":", "\"crossed\":"},
           {"\"version\":1", "\"version\":2"}}) {
    const std::string &found = change.first, &wrong = change.second;
    CAPTURE(wrong);
    std::string heads = lines[2];
    REQUIRE(heads.find(found) != std::string::npos);
    heads.replace(heads.find(found), found.size(), wrong);
    scene.write("two.jsonl", records + heads + "\n");
    const Result refused = page();
    CHECK(refused.code == kInput);
    CHECK(refused.err.find("two.jsonl:3: ") != std::string::npos);
  }
}

TEST_CASE("page: what is no record is refused, line and key named") {
  const TemporaryDirectory made;
  good({kDemoSource, "--max-length", "8", "--json", made.file("one.json")});
  const Json whole = Json::parse(bytes_of(made.file("one.json")));
  const auto refused = [&](const std::string& name, const std::string& part,
                           const std::function<void(Json&)>& change) {
    const std::string first = whole.dump();
    check_bad({name,
               {"page", "{dir}/r.jsonl", "--html", "{dir}/p.html"},
               kInput,
               {"r.jsonl:2: ", part},
               [&](const TemporaryDirectory& scene) {
                 Json record = whole;
                 change(record);
                 scene.write("r.jsonl", first + "\n" + record.dump() + "\n");
               }});
  };
  refused("no record", "expected an attention record", [](Json& r) { r = Json::array(); });
  refused("another version", "expected an attention record", [](Json& r) { r["version"] = 2; });
  refused("no source", "source is missing; expected it to be there",
          [](Json& r) { r.erase("source"); });
  refused("a weight", "encoder_self[0][0][0][0] is a JSON string; expected a number",
          [](Json& r) { r["encoder_self"][0][0][0][0] = "x"; });
  check_all({
      {"nothing in it", {"page", "/dev/null", "--html", "{dir}/p.html"}, kInput, {"no record"}},
      {"not there", {"page", "{dir}/none", "--html", "{dir}/p.html"}, kSystem, {"none"}},
      {"no folder", {"page", "{dir}/none", "--html", "{dir}/x/p.html"}, kSystem, {"x/p.html"}},
      {"no file", {"page"}, kUsage, {}},
  });
}

TEST_CASE("views: what cannot be meant") {
  const std::vector<std::string> demo = {"translate", kDemoSource, "--config", "{demo}"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), demo.begin(), demo.end());
    return more;
  };
  check_all({
      {"two on stdout",
       with({"--json", "-", "--svg", "-"}),
       kUsage,
       {"only one of", "can write to stdout; name files for the others"}},
      {"scale 0", with({"--png", "{dir}/m.png", "--png-scale", "0"}), kUsage, {"--png-scale 0"}},
      {"scale 21", with({"--png", "{dir}/m.png", "--png-scale", "21"}), kUsage, {"--png-scale 21"}},
      {"scale alone", with({"--png-scale", "3"}), kUsage, {"--png-scale needs --png"}},
      {"one file twice",
       with({"--svg", "{dir}/a", "--html", "{dir}/a"}),
       kUsage,
       {"--html {dir}/a and --svg {dir}/a name the same file; give each its own"}},
      {"tables on stdout", with({"--csv", "-"}), kUsage, {"expected a directory"}},
      {"weights alone", with({"--align-weights"}), kUsage, {"needs --align"}},
      {"least", with({"--align", "best", "--align-least", "2"}), kUsage, {"--align-least 2"}},
      {"no such head", with({"--align", "cross:7:0"}), kUsage, {"--align cross:7:0", "layers 0"}},
      {"a sentence", {"translate", "--align", kDemoSource}, kUsage, {"expected best, average"}},
      {"one beam", with({"--tree", "--svg", "{dir}/t.svg"}), kUsage, {"add --beam 4"}},
      {"no tree file", with({"--tree", "--beam", "2"}), kUsage, {"--tree needs"}},
      {"vectors", with({"--vectors"}), kUsage, {"--vectors needs --json or --html"}},
      {"rank", with({"--hypothesis", "2"}), kUsage, {"--hypothesis 2", "--n-best 2"}},
      {"rank 0", with({"--hypothesis", "0"}), kUsage, {"from 1"}},
      {"what if, tree",
       with({"--without", "cross:0", "--tree", "--beam", "2", "--html", "{dir}/p.html"}),
       kUsage,
       {"--tree cannot be combined with --without, --force and --swap"}},
      {"svg folder", with({"--svg", "{dir}/no/m.svg"}), kSystem, {"no/m.svg"}},
      {"csv file", with({"--csv", "/dev/null"}), kSystem, {"--csv /dev/null"}},
      {"csv nowhere", with({"--csv", "/proc/x"}), kSystem, {"--csv /proc/x"}},
  });
}

TEST_CASE("hostile text goes through every view unharmed") {
  const std::vector<std::string> hostile = {
      "</script><script>window.tripped=1</script>",
      "<svg onload=alert(1)> \"quoted\" & 'single'",
      "\x1b[31mred\x1b[0m \xc2\x9b"
      "1m",
      "bidi \xe2\x80\xae"
      "abc \xe2\x81\xa6 lines \xe2\x80\xa8 and \xe2\x80\xa9",
      "emoji \xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7",
      std::string(200, 'w'),
      "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xd9\x85\xd8\xb1\xd8\xad\xd8\xa8\xd8\xa7",
      "=1+1",
      "",
  };
  const TemporaryDirectory scene;
  std::vector<std::string> args = {"--show", "all", "--report",     "--align",
                                   "--beam", "2",   "--max-length", "6"};
  for (const auto& [option, name] : {std::pair{"--svg", "m.svg"},
                                     {"--png", "m.png"},
                                     {"--csv", "csv"},
                                     {"--html", "p.html"},
                                     {"--json", "m.json"}}) {
    args.insert(args.end(), {option, scene.file(name)});
  }
  args.insert(args.end(), {"--png-scale", "0.25", "--"});
  args.insert(args.end(), hostile.begin(), hostile.end());
  const Result result = good(args);
  CHECK(is_plain(result.out));
  const std::vector<std::string> lines = lines_of(bytes_of(scene.file("m.json")));
  REQUIRE(lines.size() == hostile.size() + 1);
  const Json page = page_data(scene.file("p.html"));
  REQUIRE(page["records"].size() == hostile.size());
  for (std::size_t i = 0; i < hostile.size(); ++i) {
    CAPTURE(i);
    const Json record = Json::parse(lines[i]);
    const Json& shown = page["records"][i];
    CHECK(shown["source"]["text"] == record["source"]["text"]);
    CHECK(shown["source"]["tokens"] == record["source"]["tokens"]);
    CHECK(shown["hypotheses"][0]["text"] == record["hypotheses"][0]["text"]);
    CHECK(shown["hypotheses"][0]["log_probs"] == record["hypotheses"][0]["log_probs"]);
    const std::string number = i == 0 ? "" : "-" + std::to_string(i + 1);
    for (const std::string kind : {"encoder", "decoder", "cross"}) {
      const std::string svg = bytes_of(scene.file("m" + number + "-" + kind + ".svg"));
      const Document picture(svg);
      CHECK(picture.find("script").empty());
      for (const Node& node : picture.nodes) {
        for (const auto& [key, value] : node.attributes) CHECK(!key.starts_with("on"));
      }
      CHECK(is_plain(svg));
    }
  }
  const std::string html = bytes_of(scene.file("p.html"));
  CHECK(html.find("<script>window") == std::string::npos);
  CHECK(html.find("<svg onload") == std::string::npos);
  CHECK(html.find('\x1b') == std::string::npos);
  const std::vector<Row> sentences = read_csv(bytes_of(scene.file("csv/sentences.csv")));
  REQUIRE(sentences.size() > hostile.size());
  for (const Row& row : sentences) {
    for (const std::string& field : row) CHECK((field.size() < 2 || field[0] != '='));
  }
}

TEST_CASE("evaluate --report: over pairs, against gold alignments") {
  const TemporaryDirectory scene;
  scene.write("s.en", "The group went home\nThe group\n");
  scene.write("s.de", "Die Gruppe ging nach Hause\nDie Gruppe\n");
  scene.write("s.align", "0-0 1-1 2-2 3-3 3-4\n0-0 1-1\n");
  const auto evaluate = [&](std::vector<std::string> more) {
    std::vector<std::string> args{"evaluate",         "--config", demo_config(),      "--source",
                                  scene.file("s.en"), "--target", scene.file("s.de"), "--report"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program({.args = std::move(args)});
  };
  const Result plain = evaluate({});
  REQUIRE_MESSAGE(plain.code == kDone, plain.err);
  CHECK(plain.out.find("over 2 sentences") != std::string::npos);
  CHECK(plain.out.find("AER") == std::string::npos);
  const Result gold = evaluate({"--gold", scene.file("s.align"), "--json", "-"});
  REQUIRE_MESSAGE(gold.code == kDone, gold.err);
  const Json report = Json::parse(gold.out);
  CHECK(report["gold"]["pairs"] == 2);
  CHECK(report["cross"][0][0]["aer"].is_number());
  scene.write("short.align", "0-0\n");
  scene.write("wrong.align", "0-0\n0-9\n");
  CHECK(evaluate({"--gold", scene.file("short.align")}).code == kInput);
  const Result wrong = evaluate({"--gold", scene.file("wrong.align")});
  CHECK(wrong.code == kInput);
  CHECK(wrong.err.find("wrong.align:2") != std::string::npos);
  CHECK(evaluate({"--head-importance"}).code == kUsage);
}

}  // namespace attn::test
