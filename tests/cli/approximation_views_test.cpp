// Tests Linformer, Performer and LSH through the program: the data besides their weights in
// records, on the terminal, in pictures and on the page.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bad_input.h"
#include "base/at.h"
#include "base/json.h"
#include "view/svg/expat_xml.h"

namespace attn::test {
namespace {

constexpr const char* kLinformer = R"({"type": "linformer", "k": 3})";
constexpr const char* kPerformer = R"({"type": "performer", "m": 16})";
constexpr const char* kLsh = R"({"type": "lsh", "block_size": 2, "buckets": 4, "rounds": 2})";

std::string kind_config(const TemporaryDirectory& scene, const std::string& pattern,
                        const std::string& more = "") {
  return scene.write("kind.json", R"({"model": {"d_model": 12, "encoder_layers": 2,
    "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16, "decoder_ffn_dim": 16)" +
                                      more + R"(, "encoder_attention": )" + pattern + R"(},
    "tokenizer": {"model": ")" + demo_tokenizer() +
                                      R"("}, "decode": {"max_length": 3}})");
}

Result translated(const std::string& config, std::vector<std::string> more) {
  more.insert(more.begin(), {"translate", "--config", config, kDemoSource});
  const Result result = run_program({.args = more, .environment = {{"COLUMNS", "100"}}});
  CHECK_MESSAGE(result.code == kDone, result.err);
  return result;
}

Json record_of_kind(const std::string& config) {
  return Json::parse(translated(config, {"--json", "-"}).out);
}

double total(const Json& row) {
  double sum = 0;
  for (const Json& weight : row) sum += weight.get<double>();
  return sum;
}

/// Checks that a page takes the record as the program wrote it.
void check_page(const TemporaryDirectory& scene, const std::string& config) {
  const std::string json = scene.file("r.json");
  translated(config, {"--json", json, "--show", "none"});
  const Result page = run_program({.args = {"page", json, "--html", scene.file("p.html")}});
  CHECK_MESSAGE(page.code == kDone, page.err);
}

}  // namespace

TEST_CASE("linformer: records have n × k weights with E and F, and maps of tokens are none") {
  const TemporaryDirectory scene;
  const std::string config = kind_config(scene, kLinformer);
  const Json record = record_of_kind(config);
  CHECK(record["version"] == 1);
  CHECK(record["encoder_self"].dump() == "[]");
  const Json& mixed = record["approximation"]["encoder_self"];
  CHECK(mixed["type"] == "linformer");
  CHECK(mixed.size() == 4);
  REQUIRE(mixed["weights"].size() == 2);
  REQUIRE(mixed["weights"][1].size() == 2);
  REQUIRE(mixed["weights"][1][1].size() == 5);
  for (const Json& row : mixed["weights"][1][1]) {
    CHECK(row.size() == 3);
    CHECK(total(row) == doctest::Approx(1));
  }
  for (const char* key : {"keys", "values"}) {
    REQUIRE(mixed[key].size() == 2);
    REQUIRE(mixed[key][0].size() == 5);
    CHECK(mixed[key][0][0].size() == 3);
    CHECK(mixed[key][0] != mixed[key][1]);
  }
  CHECK(mixed["keys"] != mixed["values"]);
  CHECK(record["hypotheses"][0]["cross"][0][0][0].size() == 5);
  check_page(scene, config);
  translated(config, {"--csv", scene.file("csv"), "--show", "none"});
  const std::vector<std::string> lines = lines_of(bytes_of(scene.file("csv") + "/encoder.csv"));
  REQUIRE(lines.size() == 1 + 2 * 2 * 5 * 3);
  CHECK(lines[3].starts_with("0,,0,0,0,2,"));
  CHECK(lines[3].find(",,m2,") != std::string::npos);
}

TEST_CASE("linformer: columns are mixtures on the terminal and in pictures, E and F beside them") {
  const TemporaryDirectory scene;
  const std::string config = kind_config(scene, kLinformer);
  const std::string svg = scene.file("m.svg");
  const Json record = record_of_kind(config);
  const Result shown = translated(config, {"--show", "encoder:1:0", "--svg", svg});
  CHECK(shown.out.find("each source token (row) looks at 3 mixtures of all tokens.") !=
        std::string::npos);
  const std::size_t weights = shown.out.find("encoder:1:0 ");
  const std::size_t e = shown.out.find(" E of layer 1 ", weights);
  CHECK(shown.out.find(" F of layer 1\n", e) < shown.out.find('\n', weights) + 1);
  CHECK(shown.out.find("E: how much of a token is in a mixture's key; F: in its value.") !=
        std::string::npos);
  CHECK(shown.out.find("A row sums to 1") == std::string::npos);
  const Json& mixed = record["approximation"]["encoder_self"];
  const Document picture(bytes_of(svg));
  for (const auto& [id, rows] : {std::pair{"encoder-1-0-large", mixed["weights"][1][0]},
                                 {"encoder-1-mean-large-e", mixed["keys"][1]},
                                 {"encoder-1-mean-large-f", mixed["values"][1]}}) {
    const std::vector<int> cells = picture.find("g", "cell");
    int found = 0;
    for (const int cell : cells) {
      const int row = picture.at(cell).parent;
      if (picture.at(picture.at(row).parent).get("id") != id) continue;
      ++found;
      const auto query = to_size(std::stoi(picture.at(row).get("data-query")));
      const auto key = to_size(std::stoi(picture.at(cell).get("data-key")));
      const float weight = rows[query][key].get<float>();
      CHECK(std::stof(picture.at(cell).get("data-weight")) == weight);
      const std::string paint = picture.at(picture.children(cell, "rect").at(0)).get("class");
      CHECK(paint.starts_with(weight < 0 ? "n" : "s"));
    }
    CHECK(found == 15);
  }
  CHECK(picture.texts().find("mixture of all tokens →") != std::string::npos);
  // With --words, the columns remain mixtures, and the E rows of a word's tokens are combined.
  CHECK(translated(config, {"--show", "encoder:1:0", "--words"}).out.find("3 mixtures") !=
        std::string::npos);
}

TEST_CASE("linformer: why --methods all leaves out contributions, which nobody can ask for") {
  const TemporaryDirectory scene;
  const std::string config = kind_config(scene, kLinformer);
  const auto why = [&](const char* methods) {
    return run_program(
        {.args = {"why", kDemoSource, "--config", config, "--methods", methods, "--json", "-"}});
  };
  const Result all = why("all");
  REQUIRE_MESSAGE(all.code == kDone, all.err);
  CHECK(all.err.find("contributions are left out: linformer's encoder") != std::string::npos);
  CHECK(Json::parse(all.out).contains("occlusion"));
  CHECK(!Json::parse(all.out).contains("alti"));
  CHECK(why("contributions").code == kInput);
}

TEST_CASE("linformer: figures that places define are null, and a rollout is refused") {
  const TemporaryDirectory scene;
  const std::string config = kind_config(scene, kLinformer);
  const Result report = translated(config, {"--json", "-", "--report"});
  const Json record = Json::parse(lines_of(report.out).front());
  const Json& figures = record["report"]["encoder_self"][0][0];
  CHECK(figures["entropy"].is_number());
  for (const char* key : {"distance", "diagonality", "end_mass", "punctuation_mass"}) {
    CHECK(figures[key].is_null());
  }
  check_all({
      {"--align rollout of a linformer",
       {"translate", "--config", config, kDemoSource, "--align", "rollout"},
       kInput,
       {"a rollout follows weights from token to token, but a linformer's encoder weighs "
        "mixtures"}},
      {"--force of a mixture beyond k",
       {"translate", "--config", config, kDemoSource, "--force", "encoder:0:0:1=3"},
       kUsage,
       {"encoder:0:0:1=3: no key 3: the sentence has keys 0 to 2"}},
      {"explain a head of a linformer",
       {"explain", "--config", config, kDemoSource, "--head", "encoder:0:0"},
       kInput,
       {"attention linformer is not the softmax of one head's scores"}},
  });
  const Result forced = translated(config, {"--force", "encoder:0:0:1=2", "--json", "-"});
  const Json after = Json::parse(forced.out)["after"]["approximation"]["encoder_self"]["weights"];
  CHECK(after[0][0][1].dump() == "[0,0,1]");
}

TEST_CASE("performer: the exact weights and the difference stand beside the estimated ones") {
  const TemporaryDirectory scene;
  const std::string config =
      kind_config(scene, kPerformer, R"(, "decoder_attention": {"type": "performer", "m": 16})");
  const Json record = record_of_kind(config);
  const Json& exact = record["approximation"]["encoder_self"]["exact"];
  double missed = 0;
  for (std::size_t q = 0; q < 5; ++q) {
    CHECK(total(exact[1][0][q]) == doctest::Approx(1));
    CHECK(total(record["encoder_self"][1][0][q]) == doctest::Approx(1));
    for (std::size_t k = 0; k < 5; ++k) {
      missed += std::max(
          0.0, exact[1][0][q][k].get<double>() - record["encoder_self"][1][0][q][k].get<double>());
    }
  }
  CHECK(missed > 0.001);
  // In the decoder, the maps are causal, and so are the exact ones.
  const Json& decoder = record["hypotheses"][0]["approximation"]["decoder_self"]["exact"][0][1];
  CHECK(decoder[0][0] == 1);
  CHECK(decoder[0][1] == 0);
  CHECK(total(decoder[1]) == doctest::Approx(1));
  check_page(scene, config);

  const std::string svg = scene.file("m.svg");
  const Result shown = translated(config, {"--show", "encoder:1:0", "--svg", svg});
  CHECK(shown.out.find("encoder:1:0") != std::string::npos);
  CHECK(shown.out.find("exact 1:0") != std::string::npos);
  CHECK(shown.out.find("1:0 − exact") != std::string::npos);
  CHECK(shown.out.find(fmt::format("of a row's, {:.2f} lie", missed / 5)) != std::string::npos);
  const Document picture(bytes_of(svg));
  CHECK(picture.find("g", "head").size() == 3);
  CHECK(picture.texts().find(fmt::format("difference: {:.2f} of a row's weight", missed / 5)) !=
        std::string::npos);
  translated(config, {"--show", "encoder:mean", "--svg", svg});
  CHECK(Document(bytes_of(svg)).find("g", "head").size() == 3);
}

TEST_CASE("lsh: buckets, the sorted order, and which rows found their best key") {
  const TemporaryDirectory scene;
  const std::string config = kind_config(scene, kLsh);
  const Json record = record_of_kind(config);
  const Json& hashed = record["approximation"]["encoder_self"];
  CHECK(hashed["type"] == "lsh");
  CHECK(hashed["chunk"] == 2);
  REQUIRE(hashed["order"][1][1].size() == 2);
  REQUIRE(hashed["buckets"][1][1][1].size() == 5);
  const Json& seen = record["seen"]["encoder_self"];
  const Json& runs = seen["patterns"][seen["of"][1][1].get<std::size_t>()];
  int met = 0;
  for (std::size_t q = 0; q < 5; ++q) {
    const int best = hashed["best"][1][1][q].get<int>();
    CHECK(best != to_int(q));
    bool found = false;
    for (std::size_t i = 0; i < runs[q].size(); i += 3) {
      const int first = runs[q][i].get<int>();
      found = found || (best >= first && best < first + runs[q][i + 1].get<int>());
    }
    met += found ? 1 : 0;
  }
  CHECK(hashed["best_met"][1][1].get<float>() == static_cast<float>(met) / 5);
  check_page(scene, config);

  const std::string svg = scene.file("m.svg");
  const Result shown = translated(config, {"--show", "encoder:1:1", "--svg", svg});
  CHECK(shown.out.find("encoder:1:1: tokens by [bucket] in each round; | ends a chunk of 2") !=
        std::string::npos);
  CHECK(shown.out.find("\n  round 1 [") != std::string::npos);
  CHECK(shown.out.find(fmt::format("  {} of 5 rows found their best key", met)) !=
        std::string::npos);
  const Document picture(bytes_of(svg));
  const std::vector<int> rounds = picture.find("g", "round");
  REQUIRE(rounds.size() == 2);
  for (std::size_t round = 0; round < 2; ++round) {
    const std::vector<int> cells = picture.children(rounds[round], "rect");
    REQUIRE(cells.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
      const Json token = hashed["order"][1][1][round][i];
      CHECK(picture.at(cells[i]).get("data-token") == token.dump());
      CHECK(picture.at(cells[i]).get("data-bucket") ==
            hashed["buckets"][1][1][round][token.get<std::size_t>()].dump());
    }
  }
  CHECK(picture.find("line", "chunk-end").size() == 4);
  int unmet = 0;
  for (const int mark : picture.find("rect", "best-key")) {
    if (picture.at(picture.at(mark).parent).name != "g") continue;
    if (!picture.at(picture.at(mark).parent).has_class("cell")) continue;
    unmet += picture.at(mark).has_class("unmet") ? 1 : 0;
  }
  CHECK(unmet == 5 - met);
  // One chunk holds the whole sentence, so nothing is hashed.
  const Json whole = record_of_kind(
      kind_config(scene, R"({"type": "lsh", "block_size": 8, "buckets": 4, "rounds": 2})"));
  CHECK(whole["approximation"]["encoder_self"]["buckets"].dump() == "[[[],[]],[[],[]]]");
  CHECK(whole["approximation"]["encoder_self"]["best_met"].dump() == "[[1,1],[1,1]]");
}

TEST_CASE("page refuses what does not belong to its maps in an approximation") {
  const TemporaryDirectory scene;
  const auto refused = [&](const char* pattern, const char* place, const char* value,
                           const std::string& says) {
    Json record = record_of_kind(kind_config(scene, pattern));
    record[Json::json_pointer(std::string("/approximation/encoder_self") + place)] =
        Json::parse(value);
    const std::string path = scene.write("bad.json", record.dump() + "\n");
    const Result page = run_program({.args = {"page", path, "--html", scene.file("p.html")}});
    CHECK(page.code == kInput);
    CHECK_MESSAGE(page.err.find("approximation.encoder_self" + says) != std::string::npos,
                  page.err);
  };
  refused(kLinformer, "/type", "\"linear\"", ".type is \"linear\"");
  refused(kLinformer, "/weights/0/1/4", "[1]", ".weights[0][1][4]");
  refused(kLinformer, "/keys/1/0", "[0,0,0,0]", ".keys[1][0]");
  refused(kLinformer, "/values", "[]", ".values");
  refused(kPerformer, "/exact/0/0", "[[1]]", ".exact[0][0]");
  refused(kLsh, "/order/0/0/1", "[0,1,2,3,3]", ".order[0][0][1][4] is 3");
  refused(kLsh, "/buckets/0/0/0/2", "-1", ".buckets[0][0][0][2]");
  refused(kLsh, "/buckets/0/0", "[[0,0,0,0,0]]", ".buckets[0][0] is an array of 1");
  refused(kLsh, "/best/1/0/0", "5", ".best[1][0][0] is 5");
  refused(kLsh, "/chunk", "0", ".chunk is 0");
  refused(kLsh, "/mass/0/0", "[]", ".mass[0][0]");
  Json record = record_of_kind(kind_config(scene, kLsh));
  record.erase("seen");
  const std::string path = scene.write("bad.json", record.dump() + "\n");
  const Result page = run_program({.args = {"page", path, "--html", scene.file("p.html")}});
  CHECK(page.code == kInput);
  CHECK_MESSAGE(page.err.find("seen is missing") != std::string::npos, page.err);
}

TEST_CASE("inspect --receptive-field: all of the source, or what holds for every sentence") {
  const TemporaryDirectory scene;
  const auto field = [&](const char* pattern, const char* length) {
    return run_program({.args = {"inspect", "--config", kind_config(scene, pattern),
                                 "--receptive-field", "--length", length, "--json", "-"}});
  };
  for (const char* pattern : {kLinformer, kPerformer}) {
    const Json all = Json::parse(field(pattern, "8").out)["receptive_field"];
    CHECK(all["layers"][0].dump() == R"({"least":8,"mean":8.0,"most":8,"farthest":7})");
  }
  // Each of two rounds has two chunks of 2 tokens, and the token itself is in both; one chunk may
  // have 1 token.
  CHECK(Json::parse(field(kLsh, "21").out)["receptive_field"].dump() ==
        R"({"tokens":21,"bounds":true,"layers":[{"least":3,"most":7},{"least":3,"most":21}]})");
  CHECK(Json::parse(field(kLsh, "2").out)["receptive_field"]["layers"][0].dump() ==
        R"({"least":2,"most":2})");
  const Result table = run_program({.args = {"inspect", "--config", kind_config(scene, kLsh),
                                             "--receptive-field", "--length", "21"}});
  CHECK(table.out ==
        "Receptive field of 21 tokens: lsh, block_size 2, rounds 2, buckets 4\n\n"
        "layers  at least  at most\n"
        "─────────────────────────\n"
        "     1         3        7\n"
        "     2         3       21\n\n"
        "How many tokens of the source a row is made from. Their hashes decide which, so\n"
        "that no picture holds for all sentences.\n");
  check_all({
      {"--receptive-field --svg of lsh",
       {"inspect", "--config", kind_config(scene, kLsh), "--receptive-field", "--svg",
        "{dir}/x.svg"},
       kInput,
       {"the tokens that a token sees depend on the sentence, so there is no picture for all "
        "sentences; "
        "leave --svg out, or translate a sentence with --html"}},
  });
}

TEST_CASE("lsh: words that occur more than once have their places in the lines of the rounds") {
  const TemporaryDirectory scene;
  const std::string twice = std::string(kDemoSource) + " " + kDemoSource;
  const Result shown = run_program({.args = {"translate", "--config", kind_config(scene, kLsh),
                                             twice, "--show", "encoder:0:0"}});
  REQUIRE_MESSAGE(shown.code == kDone, shown.err);
  const std::string rounds = shown.out.substr(shown.out.find("  round 0 ["));
  for (const char* token : {"The(0)", "group(1)", "The(4)", "group(5)", " </s>"}) {
    CHECK_MESSAGE(rounds.find(token) != std::string::npos, token);
  }
  CHECK(rounds.find("</s>(") == std::string::npos);
}

TEST_CASE("linformer: a minus without a figure has its legend") {
  const TemporaryDirectory scene;
  const std::string config = kind_config(scene, R"({"type": "linformer", "k": 30})");
  const auto shown = [&](const std::string& columns, const std::string& show) {
    return run_program({.args = {"translate", "--config", config, kDemoSource, "--show", show},
                        .environment = {{"COLUMNS", columns}}})
        .out;
  };
  CHECK(shown("60", "encoder").find("− is below 0.") != std::string::npos);
  CHECK(shown("300", "encoder").find("− is below 0.") == std::string::npos);  // shows numbers
  CHECK(shown("60", "cross").find("− is below 0.") == std::string::npos);
}

}  // namespace attn::test
