// Tests the output of translate: translations, maps and JSON records.
#include <doctest/doctest.h>

#include <cmath>
#include <iterator>
#include <regex>

#include "bad_input.h"

namespace attn::test {
namespace {

Result demo(std::vector<std::string> more, const std::string& input = "") {
  more.insert(more.begin(), {"translate", "--config", demo_config(), "--seed", "7"});
  return run_program({.args = std::move(more), .input = input});
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; at += part.size()) ++found;
  return found;
}

/// Checks [layer][head][query][key] for these sizes. Rows must sum to 1, and causal maps must be 0
/// above the diagonal.
void check_maps(const Json& maps, std::size_t layers, std::size_t heads, std::size_t queries,
                std::size_t keys, bool causal = false) {
  REQUIRE(maps.size() == layers);
  for (const Json& layer : maps) {
    REQUIRE(layer.size() == heads);
    for (const Json& head : layer) {
      REQUIRE(head.size() == queries);
      for (std::size_t q = 0; q < queries; ++q) {
        REQUIRE(head[q].size() == keys);
        double sum = 0;
        for (const Json& weight : head[q]) sum += weight.get<double>();
        CHECK(std::abs(sum - 1) < 1e-5);
        for (std::size_t k = q + 1; causal && k < keys; ++k) CHECK(head[q][k].get<double>() == 0.0);
      }
    }
  }
}

void check_map_shapes(const Json& record, std::size_t heads) {
  CHECK(record["format"] == "attn-demo.attention");
  CHECK(record["version"] == 1);
  CHECK(record["model"]["d_model"] == 12);
  CHECK(record["model"]["encoder_head_dim"] == 12 / heads);
  CHECK(record["model"]["decoder_head_dim"] == 12 / heads);
  const std::size_t source = record["source"]["ids"].size();
  CHECK(record["source"]["tokens"].size() == source);
  CHECK(record["source"]["tokens"].back() == "</s>");
  check_maps(record["encoder_self"], 2, heads, source, source);
  for (const Json& hypothesis : record["hypotheses"]) {
    const std::size_t steps = hypothesis["ids"].size();
    CHECK(hypothesis["tokens"].size() == steps);
    CHECK(hypothesis["log_probs"].size() == steps);
    CHECK(hypothesis["decoder_input"]["ids"].size() == steps);
    CHECK(hypothesis["decoder_input"]["tokens"].size() == steps);
    if (steps == 0) continue;
    CHECK(hypothesis["decoder_input"]["tokens"][0] == "<pad>");
    for (std::size_t t = 1; t < steps; ++t) {
      CHECK(hypothesis["decoder_input"]["ids"][t] == hypothesis["ids"][t - 1]);
    }
    for (const Json& value : hypothesis["log_probs"]) CHECK(value.get<double>() <= 0.0);
    check_maps(hypothesis["decoder_self"], 2, heads, steps, steps, true);
    check_maps(hypothesis["cross"], 2, heads, steps, source);
  }
}

}  // namespace

TEST_CASE("--json - is JSON alone, one object a line") {
  const Result result = demo({"--json", "-"}, "The group went home\n\nWe\n");
  CHECK(result.code == kDone);
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == 3);
  for (const std::string& line : lines) {
    REQUIRE(Json::accept(line));
    check_map_shapes(Json::parse(line), 2);
  }
  CHECK(Json::parse(lines[0])["source"]["text"] == kDemoSource);
  CHECK(Json::parse(lines[1])["source"]["text"] == "");
  CHECK(Json::parse(lines[2])["source"]["text"] == "We");
  CHECK(Json::parse(lines[0])["model"]["weights"] == "random");
  CHECK(Json::parse(lines[0])["model"]["seed"] == 7);
  // --show does not add anything to it.
  CHECK(demo({"--json", "-", "--show", "all", kDemoSource}).out == lines[0] + "\n");
}

TEST_CASE("--json FILE comes with the text and holds every layer and head") {
  const TemporaryDirectory scene;
  const std::string path = scene.file("maps.json");
  const Result text = demo({"--show", "cross:0:1", kDemoSource});
  const Result both = demo({"--show", "cross:0:1", "--json", path, kDemoSource});
  CHECK(both.code == kDone);
  CHECK(both.out == text.out);
  CHECK(bytes_of(path) == demo({"--json", "-", kDemoSource}).out);
  CHECK(listing(scene.path()) == std::vector<std::string>{"maps.json"});
  CHECK(demo({"--json", path}, "We\nThe\n").out == demo({}, "We\nThe\n").out);
  CHECK(lines_of(bytes_of(path)).size() == 2);
}

TEST_CASE("--heads splits the same columns in other ways") {
  for (const std::size_t heads : {1U, 2U, 3U, 4U, 6U, 12U}) {
    const Result result = demo({"--heads", std::to_string(heads), "--json", "-", kDemoSource});
    REQUIRE(result.code == kDone);
    check_map_shapes(Json::parse(result.out), heads);
  }
}

TEST_CASE("--target scores and shows the given translation") {
  const Result json = demo({kDemoSource, "--target", kDemoTarget, "--json", "-"});
  REQUIRE(json.code == kDone);
  const Json record = Json::parse(json.out);
  check_map_shapes(record, 2);
  REQUIRE(record["hypotheses"].size() == 1);
  const Json& hypothesis = record["hypotheses"][0];
  CHECK(hypothesis["text"] == kDemoTarget);
  CHECK(hypothesis["tokens"].size() == 6);
  double sum = 0;
  for (const Json& value : hypothesis["log_probs"]) sum += value.get<double>();
  CHECK(std::abs(hypothesis["score"].get<double>() - sum / 6) < 1e-5);
  // However it is shown, the given target is printed and not a search result.
  for (const std::string show : {"none", "cross:0:0", "all"}) {
    INFO("--show ", show);
    const Result text = demo({kDemoSource, "--target", kDemoTarget, "--show", show});
    CHECK(text.code == kDone);
    CHECK(text.out.starts_with(kDemoTarget + "\n"));
  }
  const Json empty = Json::parse(demo({kDemoSource, "--target", "", "--json", "-"}).out);
  CHECK(empty["hypotheses"][0]["tokens"] == Json({"</s>"}));
}

TEST_CASE("a sentence gives the same record alone and in a batch") {
  const std::vector<std::string> sentences = {kDemoSource, "We", "The house", "went to the house"};
  std::vector<std::string> args = {"--json", "-"};
  args.insert(args.end(), sentences.begin(), sentences.end());
  const std::vector<std::string> batch = lines_of(demo(args).out);
  REQUIRE(batch.size() == sentences.size());
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    CHECK(demo({"--json", "-", sentences[i]}).out == batch[i] + "\n");
  }
}

TEST_CASE("a saved model gives the record of the config it came from") {
  const TemporaryDirectory scene;
  const std::string model = ModelFiles::good().write(scene, "m");
  const Result loaded =
      run_program({.args = {"translate", "--model", model, "--json", "-", kDemoSource}});
  Json from_file = Json::parse(loaded.out);
  Json from_seed = Json::parse(demo({"--json", "-", kDemoSource}).out);
  CHECK(from_file["model"]["weights"] == "loaded");
  CHECK(from_file["model"]["seed"] == nullptr);
  CHECK(from_file["encoder_self"] == from_seed["encoder_self"]);
  CHECK(from_file["hypotheses"] == from_seed["hypotheses"]);
  CHECK(notes_of(loaded).empty());
}

TEST_CASE("--n-best 3 --beam 4: rank, score and text between tabs, best first") {
  const Result result = demo({"--beam", "4", "--n-best", "3", "--show", "none", kDemoSource, "We"});
  CHECK(result.code == kDone);
  const std::vector<std::string> lines = lines_of(result.out);
  REQUIRE(lines.size() == 6);
  double last = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t first = lines[i].find('\t');
    const std::size_t second = lines[i].find('\t', first + 1);
    REQUIRE(second != std::string::npos);
    CHECK(lines[i].substr(0, first) == std::to_string(i % 3 + 1));
    const double score = std::stod(lines[i].substr(first + 1, second - first - 1));
    if (i % 3 != 0) CHECK(score <= last);
    last = score;
    CHECK(lines[i].find('\t', second + 1) == std::string::npos);
  }
  const Json record =
      Json::parse(demo({"--beam", "4", "--n-best", "3", "--json", "-", kDemoSource}).out);
  check_map_shapes(record, 2);
  CHECK(record["hypotheses"].size() == 3);
}

TEST_CASE("--max-length counts produced tokens with the end symbol") {
  for (const std::size_t length : {1U, 2U, 5U}) {
    const Json record =
        Json::parse(demo({"--max-length", std::to_string(length), "--json", "-", kDemoSource}).out);
    CHECK(record["hypotheses"][0]["ids"].size() == length);
    CHECK(record["hypotheses"][0]["tokens"].back() == "</s>");
  }
}

TEST_CASE("--show chooses the maps, and a heading says which each is") {
  const auto maps = [](const std::vector<std::string>& show) {
    std::vector<std::string> args = {kDemoSource, "--max-length", "6"};
    for (const std::string& name : show) args.insert(args.end(), {"--show", name});
    const std::string out = demo(args).out;
    static const std::regex title("(encoder|decoder|cross):[0-9m]");
    // The last line also names heads.
    const std::string grids = out.substr(0, out.find("A row sums to 1."));
    return std::distance(std::sregex_iterator(grids.begin(), grids.end(), title),
                         std::sregex_iterator());
  };
  CHECK(maps({"all"}) == 12);
  CHECK(maps({"cross"}) == 4);
  CHECK(maps({"cross:0"}) == 2);
  CHECK(maps({"encoder:1:0", "decoder"}) == 5);
  CHECK(maps({"best"}) == 1);
  CHECK(maps({"cross:0:mean", "cross:mean"}) == 2);
  const Result one = demo({kDemoSource, "--show", "cross:0:1"});
  CHECK(count(one.out, "cross:0:1") == 1);
  for (const std::string word : {"The", "group", "went", "home"}) {
    CHECK(one.out.find(word) != std::string::npos);
  }
  const Result none = demo({kDemoSource, "--show", "none"});
  CHECK(lines_of(none.out).size() == 1);
  CHECK(one.out.starts_with(none.out));
  // Input from stdin gives only translations, unless maps are requested.
  CHECK(demo({}, kDemoSource + "\n").out == none.out);
  CHECK(demo({"--show", "cross:0:1"}, kDemoSource + "\n").out == one.out);
}

TEST_CASE("piped output is plain text, whatever the environment says") {
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"NO_COLOR", "1"},
                                                        {"NO_COLOR", ""},
                                                        {"COLORTERM", "truecolor"},
                                                        {"TERM", "xterm"},
                                                        {"TERM", ""},
                                                        {"CLICOLOR_FORCE", "1"}}) {
    const Result result =
        run_program({.args = {"translate", "--config", demo_config(), kDemoSource},
                     .environment = {{name, value}}});
    CHECK(result.code == kDone);
    CHECK(is_plain(result.out));
    CHECK(is_plain(result.err));
  }
}

TEST_CASE("random weights are called noise, once, on stderr") {
  const Result result = demo({}, "The\nWe\n");
  REQUIRE(notes_of(result).size() == 1);
  CHECK(notes_of(result)[0].find("random weights (seed 7): the translation is noise") !=
        std::string::npos);
  CHECK(result.out.find("noise") == std::string::npos);
  CHECK(errors_of(result).empty());
}

TEST_CASE("after -- a sentence may begin with a dash") {
  const Result result = demo({"--json", "-", "--", "--The group"});
  REQUIRE(result.code == kDone);
  CHECK(Json::parse(result.out)["source"]["text"] == "--The group");
  CHECK(Json::parse(demo({"--json", "-", "--", "--help"}).out)["source"]["text"] == "--help");
}

}  // namespace attn::test
