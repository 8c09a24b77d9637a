// Receipts in records and pages, tables of why's other methods, and evaluate --why.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/at.h"
#include "base/files/files.h"
#include "base/json.h"
#include "run_program.h"
#include "temporary_directory.h"

namespace attn::test {
namespace {

constexpr const char* kViewsSentence = "The group went home";

Result views_program(std::vector<std::string> args) {
  // Integrated gradients take long on a busy machine.
  return run_program({.args = std::move(args), .limit_milliseconds = 10 * kPatience});
}

Result views_of(std::vector<std::string> args) {
  Result result = views_program(std::move(args));
  REQUIRE_MESSAGE(result.code == 0, result.err);
  return result;
}

void views_refused(std::vector<std::string> args, const std::string& part) {
  const Result result = views_program(std::move(args));
  CHECK_MESSAGE(result.code == 2, result.err);
  CHECK_MESSAGE(result.err.find(part) != std::string::npos, result.err);
  CHECK(result.out.empty());
}

/// Returns the data inside a page.
Json views_page_data(const std::string& page) {
  const std::string begin = R"(id="attn-data">)";
  const std::size_t at = page.find(begin);
  REQUIRE(at != page.npos);
  const std::size_t first = at + begin.size();
  return Json::parse(page.substr(first, page.find("</script>", first) - first));
}

double views_total(const Json& sum) {
  double all = sum["feed_forward"].get<double>() + sum["biases"].get<double>() +
               sum["position"].get<double>();
  for (const char* side : {"source", "prefix"}) {
    for (const Json& entry : sum[side]) all += entry["value"].get<double>();
  }
  return all;
}

}  // namespace

TEST_CASE("translate --why: each hypothesis has the receipts that why prints") {
  const Json record = Json::parse(views_of({"translate", kViewsSentence, "--beam", "3", "--n-best",
                                            "2", "--why", "--json", "-"})
                                      .out);
  const Json why = Json::parse(views_of({"why", kViewsSentence, "--json", "-"}).out);
  REQUIRE(record["hypotheses"].size() == 2);
  for (const Json& hypothesis : record["hypotheses"]) {
    CHECK(hypothesis["why"]["words"].size() >= 4);
  }
  const Json best =
      Json::parse(views_of({"translate", kViewsSentence, "--why", "--json", "-"}).out);
  const Json& words = best["hypotheses"][0]["why"]["words"];
  REQUIRE(words.size() == 5);
  CHECK(words[1]["text"] == "Gruppe");
  for (const Json& word : words) {
    double logit = 0;
    for (int t = word["first"]; t < word["first"].get<int>() + word["count"].get<int>(); ++t) {
      logit += why["logits"][to_size(t)].get<double>();
    }
    CHECK(views_total(word["logit"]) == doctest::Approx(logit).epsilon(1e-4));
  }
}

TEST_CASE("translate --why: the maps of measures are the numbers of why, and a page keeps them") {
  const TemporaryDirectory scene;
  const std::string json = scene.file("r.json"), html = scene.file("p.html");
  views_of({"translate", kViewsSentence, "--why", "--json", json});
  const Json maps = Json::parse(read_file(json))["hypotheses"][0]["why"]["maps"];
  const Json why = Json::parse(
      views_of({"why", kViewsSentence, "--methods", "receipt,contributions", "--json", "-"}).out);
  const auto near = [](const Json& a, const Json& b) {
    return a.get<double>() == doctest::Approx(b.get<double>()).epsilon(1e-5);
  };
  for (const char* site : {"encoder_self", "decoder_self", "cross"}) {
    CHECK(near(maps[site]["value"][1][3][4][2], why["value_weighted"][site][1][3][4][2]));
  }
  CHECK_FALSE(maps["encoder_self"].contains("contribution"));
  // A receipt's axes are step, layer, head and key.
  CHECK(
      near(maps["cross"]["contribution"][2][1][3][2], why["receipt"]["word"]["cross"][3][2][1][2]));
  CHECK(near(maps["decoder_self"]["contribution"][0][2][4][1],
             why["receipt"]["word"]["self"][4][0][2][1]));
  // Read and written again, they are packed as those of the program's own page.
  views_of({"page", json, "--html", html});
  const Json read = views_page_data(read_file(html))["records"][0]["hypotheses"][0]["why"]["maps"];
  CHECK(read["cross"]["contribution"].is_string());
  views_of({"translate", kViewsSentence, "--why", "--html", html});
  CHECK(views_page_data(read_file(html))["records"][0]["hypotheses"][0]["why"]["maps"] == read);
  views_of({"why", kViewsSentence, "--html", html});
  CHECK(views_page_data(read_file(html))["records"][0]["hypotheses"][0]["why"]["maps"] == read);
  // JSON has them only in records: answers for programs have arrays of their own.
  Json broken = Json::parse(read_file(json));
  broken["hypotheses"][0]["why"]["maps"]["cross"]["value"][2].erase(0);
  write_file(json, broken.dump() + "\n");
  const Result refused = views_program({"page", json, "--html", html});
  CHECK(refused.code == 3);
  CHECK_MESSAGE(refused.err.find("why.maps.cross.value[2] is an array of 3; expected an array of 4 "
                                 "heads") != std::string::npos,
                refused.err);
}

TEST_CASE("a small page has receipts without --why; JSON beside it has them only with --why") {
  const TemporaryDirectory scene;
  const std::string page = scene.file("p.html"), json = scene.file("r.json");
  views_of({"translate", kViewsSentence, "--html", page, "--json", json});
  CHECK(views_page_data(read_file(page))["records"][0]["hypotheses"][0]["why"]["words"].size() ==
        5);
  CHECK_FALSE(Json::parse(read_file(json))["hypotheses"][0].contains("why"));
  views_of({"translate", kViewsSentence, "--html", page, "--json", json, "--why"});
  CHECK(Json::parse(read_file(json))["hypotheses"][0]["why"]["words"].size() == 5);
  // A saved record keeps them.
  views_of({"page", json, "--html", page});
  CHECK(views_page_data(read_file(page))["records"][0]["hypotheses"][0]["why"]["words"].size() ==
        5);
}

TEST_CASE("a large page leaves receipts out, says so, and keeps them with --why") {
  const TemporaryDirectory scene;
  std::string lines;
  for (int i = 0; i < 120; ++i) lines += "The group of children went home and we went home too .\n";
  const std::string page = scene.file("p.html");
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"translate", "--html", page});
    const Result result = run_program({.args = more, .input = lines});
    REQUIRE_MESSAGE(result.code == 0, result.err);
    return std::pair(result.err, views_page_data(read_file(page))["records"]);
  };
  const auto [said, without] = run({});
  CHECK_MESSAGE(said.find("no receipts, which explain a word") != std::string::npos, said);
  CHECK(said.find("--why puts them in") != std::string::npos);
  for (const Json& record : without) CHECK_FALSE(record["hypotheses"][0].contains("why"));
  const auto [quiet, with] = run({"--why"});
  CHECK(quiet.find("no receipts") == std::string::npos);
  for (const Json& record : with) CHECK(record["hypotheses"][0].contains("why"));
}

TEST_CASE("translate --why refuses what has no receipts") {
  views_refused({"translate", kViewsSentence, "--why"}, "--why needs --json or --html");
  views_refused({"translate", kViewsSentence, "--why", "--json", "-", "--without", "cross:0:1"},
                "--why cannot be combined with --without, --force and --swap");
  const std::string shipped = std::string(ATTN_SOURCE_DIR) + "/data/models/en-de";
  views_refused(
      {"translate", kViewsSentence, "--why", "--json", "-", "--model", shipped, "--model", shipped},
      "--why explains one model");
}

TEST_CASE("why prints its other methods as tables") {
  const std::string out = views_of({"why", kViewsSentence, "--word", "Gruppe", "--methods", "all",
                                    "--corrupt", "The woman went home"})
                              .out;
  for (const char* part :
       {"Logit lens", "embedding", "layer 2", "Gruppe ", "Contributions (ALTI+)",
        "Gradient × input", "Integrated gradients", "Patching: the share of “Gruppe”",
        "after layers: 3", "head 3", "1.00"}) {
    CHECK_MESSAGE(out.find(part) != std::string::npos, part, " in ", out);
  }
  // Only the word in question has rows.
  CHECK(out.find("Hause ") == std::string::npos);
  CHECK(views_of({"why", kViewsSentence}).out.find("Logit lens") == std::string::npos);
}

TEST_CASE("why --csv has the numbers of --json for gradients, patching and the lens") {
  const std::vector<std::string> base{"why", kViewsSentence, "--methods",
                                      "all", "--corrupt",    "The woman went home"};
  const auto with = [&](const char* option) {
    std::vector<std::string> args = base;
    args.insert(args.end(), {option, "-"});
    return views_of(std::move(args)).out;
  };
  const std::string csv = with("--csv");
  const Json json = Json::parse(with("--json"));
  const auto value_of = [&](const std::string& start) {
    const std::size_t at = csv.find("\r\n" + start);
    REQUIRE_MESSAGE(at != csv.npos, start);
    const std::size_t end = csv.find("\r\n", at + 2);
    return std::stod(csv.substr(csv.rfind(',', end) + 1, end));
  };
  CHECK(value_of("patching.cross,2,1,") ==
        doctest::Approx(json["patching"]["cross"][2][1].get<double>()));
  CHECK(value_of("patching.encoder,3,,,,1,▁group,") ==
        doctest::Approx(json["patching"]["encoder"][3][1].get<double>()));
  CHECK(value_of("logit_lens,3,,1,▁Gruppe,") ==
        doctest::Approx(json["logit_lens"][3][1]["log_probs"][0].get<double>()));
  CHECK(csv.find("\r\ngradient.log_prob.source_l2,,,1,▁Gruppe,1,▁group,") != std::string::npos);
  CHECK(csv.find("\r\nintegrated_gradients.contrast.target_dot,") != std::string::npos);
}

TEST_CASE("why --csv takes a file's name") {
  const TemporaryDirectory scene;
  views_of({"why", kViewsSentence, "--csv", scene.file("why.csv")});
  CHECK(read_file(scene.file("why.csv")).starts_with("method,layer,head,"));
}

TEST_CASE("why --html writes the page of the sentence with the receipts in question") {
  const Json page = views_page_data(
      views_of({"why", kViewsSentence, "--word", "Hause", "--instead", "Haus", "--html", "-"}).out);
  const Json& words = page["records"][0]["hypotheses"][0]["why"]["words"];
  REQUIRE(words.size() == 1);
  CHECK(words[0]["foil"]["text"] == "▁Haus");
  CHECK(words[0]["foil"]["given"] == true);
}

TEST_CASE("evaluate --why: the receipt beats attention, and occlusion is its own measure") {
  const std::string data = std::string(ATTN_SOURCE_DIR) + "/data/gold/words";
  const TemporaryDirectory scene;
  const std::string json = scene.file("why.json");
  const std::string out = views_of({"evaluate", "--source", data + ".en", "--target", data + ".de",
                                    "--gold", data + ".align", "--why", "--json", json})
                              .out;
  CHECK(out.find("receipt of the word") != std::string::npos);
  CHECK(out.find("AER") != std::string::npos);
  const Json report = Json::parse(read_file(json));
  CHECK(report["format"] == "attn-demo.why_evaluation");
  CHECK(report["pairs"] == 50);
  std::map<std::string, Json> by_name;
  for (const Json& method : report["methods"]) by_name[method["method"]] = method;
  REQUIRE(by_name.size() == 14);
  const auto drop = [&](const char* name) {
    return by_name[name]["deletion"]["drop"].get<double>();
  };
  CHECK(drop("occlusion_drop") == doctest::Approx(1));
  CHECK(by_name["occlusion_unk"]["deletion"]["unk"].get<double>() == doctest::Approx(1));
  CHECK(drop("receipt") > drop("attention_last_layer"));
  CHECK(drop("receipt") > 0.85);
  CHECK(std::abs(drop("gradient_dot")) < 0.5);
  CHECK(by_name["receipt"]["aer"].get<double>() < by_name["gradient_l2"]["aer"].get<double>());
  CHECK(by_name["integrated"]["pairs"] == 18);
  const Result plain =
      views_of({"evaluate", "--source", data + ".en", "--target", data + ".de", "--why"});
  CHECK(plain.out.find("AER") == std::string::npos);
}

TEST_CASE("evaluate --why refuses what does not go with it") {
  const std::string data = std::string(ATTN_SOURCE_DIR) + "/data/gold/words";
  const auto refused = [&](std::vector<std::string> more, const std::string& part) {
    more.insert(more.begin(), {"evaluate", "--source", data + ".en", "--target", data + ".de"});
    views_refused(std::move(more), part);
  };
  refused({"--why", "--report"}, "--why and --report are two different reports");
  refused({"--why", "--head-importance"}, "--why and --head-importance are two different reports");
  refused({"--why", "--output", "x"}, "--output cannot be combined with --why");
  refused({"--gold", data + ".align"}, "--gold needs --report or --why");
  const Result result = views_program({"evaluate", "--source", data + ".en", "--target",
                                       data + ".de", "--why", "--gold", data + ".en"});
  CHECK(result.code == 3);
}

}  // namespace attn::test
