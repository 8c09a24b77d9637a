// Tests rules on the generated tokens and random sampling, and that convert keeps a directory's
// settings of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "bad_input.h"
#include "model_files.h"
#include "run_program.h"

namespace attn::test {
namespace {

using Ids = std::vector<int>;

struct RulesScene {
  TemporaryDirectory directory;
  std::string model = ModelFiles::good().write(directory, "model");

  Result translate(std::vector<std::string> more) const {
    more.insert(more.begin(), {"translate", "--model", model, "--max-length", "9"});
    more.push_back("The group went home");
    return run_program({.args = more});
  }
  Ids ids(std::vector<std::string> more) const {
    more.insert(more.end(), {"--json", "-"});
    const Result result = translate(more);
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    return Json::parse(result.out)["hypotheses"][0]["ids"].get<Ids>();
  }
};

}  // namespace

TEST_CASE("options of translate change what is generated") {
  const RulesScene scene;
  const Ids free = scene.ids({});
  REQUIRE(std::set<int>(free.begin(), free.end()).size() < free.size());
  const Ids once = scene.ids({"--no-repeat-ngram", "1"});
  CHECK(std::set<int>(once.begin(), once.end()).size() == once.size());
  CHECK(scene.ids({"--repetition-penalty", "5"}) != free);
  Ids source = Json::parse(scene.translate({"--json", "-"}).out)["source"]["ids"].get<Ids>();
  source.pop_back();  // a forced end appears all the same
  const Ids strange = scene.ids({"--encoder-no-repeat-ngram", "1"});
  CHECK(std::ranges::none_of(
      strange, [&](int id) { return std::ranges::find(source, id) != source.end(); }));
  CHECK(scene.ids({"--min-length", "8", "--beam", "2"}).size() >= 8);
}

TEST_CASE("a forbidden word occurs in no translation, however it is searched") {
  const auto translated = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"translate", "--show", "none", "The group went home"});
    const Result result = run_program({.args = more});
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    return result.out;
  };
  CHECK(translated({}) == "Die Gruppe ging nach Hause\n");
  for (const std::string word : {"Gruppe", "Hause", "nach", "Die", "ging"}) {
    for (const std::vector<std::string>& search :
         {std::vector<std::string>{"--beam", "1"},
          {"--beam", "4", "--n-best", "4"},
          {"--sample", "--n-best", "20", "--temperature", "1.5"}}) {
      std::vector<std::string> more = search;
      more.insert(more.end(), {"--forbid", word});
      const std::string out = " " + translated(more);
      CAPTURE(out);
      for (const char before : {' ', '\t', '"', '-', '('}) {
        CHECK(out.find(before + word + " ") == out.npos);
        CHECK(out.find(before + word + "\n") == out.npos);
      }
    }
  }
  // Several words may be forbidden together, and a word that does not occur changes nothing.
  const std::string two = translated({"--forbid", "Gruppe", "--forbid", "nach"});
  CHECK(two.find("Gruppe") == two.npos);
  CHECK(two.find("nach") == two.npos);
  CHECK(translated({"--forbid", "Katze"}) == translated({}));
  const Result empty = run_program({.args = {"translate", "The group", "--forbid", " "}});
  CHECK(empty.code == kUsage);
  CHECK(empty.err == "attn-demo: --forbid \" \": expected a word\n");
}

TEST_CASE("where a term occurs, the translation contains what was given for it") {
  const auto translated = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"translate", "--show", "none", "The group went home"});
    return run_program({.args = more});
  };
  const std::string plain = "Die Gruppe ging nach Hause\n";
  for (const std::string beam : {"1", "4"}) {
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.end(), {"--beam", beam});
      const Result result = translated(more);
      CHECK_MESSAGE(result.code == kDone, result.err);
      CHECK(result.err == "");
      return result.out;
    };
    CHECK(with({"--term", "group=Mannschaft"}).find("Mannschaft") != std::string::npos);
    CHECK(with({"--term", "The group=Das Team|Die Truppe"}).find_first_of("TD") == 0);
    CHECK(with({"--term", "group=Mannschaft"}) == "Die Mannschaft ging nach Hause\n");
    const std::string two = with({"--term", "group=Mannschaft", "--term", "home=heim"});
    CHECK(two.find("Mannschaft") != two.npos);
    CHECK(two.find("heim") != two.npos);
    // A term whose source does not occur changes nothing, nor does one that is already met.
    CHECK(with({"--term", "cat=Katze"}) == plain);
    CHECK(with({"--term", "grou=Katze"}) == plain);
  }
  const Result list = run_program({.args = {"translate", "The dog sleeps in the garden.", "--term",
                                            "dog=Köter", "--n-best", "3"}});
  CHECK(list.out.find("Der Köter schläft im Garten.") < list.out.find('\n'));
  // A record says how it was searched.
  const std::string record = translated({"--term", "group=Team", "--beam", "2", "--json", "-"}).out;
  CHECK(record.find(R"("decoding":{"beams":8,"length_penalty":0.5})") != record.npos);
  const RulesScene scene;  // its small vocabulary has no hieroglyphs
  const Result none = scene.translate({"--term", "group=𓀀"});
  CHECK(none.code == kDone);
  CHECK(none.out == scene.translate({}).out);
  CHECK_MESSAGE(none.err.find("term group=𓀀: the model has no tokens for") != none.err.npos,
                none.err);
  const Result forbidden = translated({"--term", "group=Team", "--forbid", "Team", "--beam", "4"});
  CHECK(forbidden.code == kDone);
  CHECK(forbidden.out == plain);
  CHECK(forbidden.err.find("term group=Team: no translation contains it") != forbidden.err.npos);
}

TEST_CASE("terms are read strictly") {
  TemporaryDirectory directory;
  const auto with = [&](const std::string& bytes) {
    const std::string path = directory.write("terms.tsv", bytes);
    return run_program({.args = {"translate", "--show", "none", "--terms", path, "The group"}});
  };
  const Result good = with("\xEF\xBB\xBFgroup\tMannschaft|Mannschaften\r\n\ngroup\tTeam\n");
  REQUIRE_MESSAGE(good.code == kDone, good.err);
  CHECK((good.out.find("Mannschaft") != good.out.npos || good.out.find("Team") != good.out.npos));
  for (const std::string bad : {"group\n", "group=Mannschaft\n", "group\t\n", "\tTeam\n",
                                "group\tA|\n", "group\tA\tB\n", "gr\xFFup\tA\n"}) {
    const Result result = with("cat\tKatze\n" + bad);
    CHECK(result.code == kInput);
    CHECK_MESSAGE(result.err.find("terms.tsv, line 2: ") != result.err.npos, result.err);
    CHECK(result.out.empty());
  }
  for (const std::string bad : {"group", "=x", "x=", "x=|", " = "}) {
    const Result result = run_program({.args = {"translate", "The group", "--term", bad}});
    CHECK(result.code == kUsage);
    CHECK(result.err.find("attn-demo: --term \"") == 0);
    CHECK(result.err.find("expected SOURCE=TARGET") != result.err.npos);
  }
  const Result sampled =
      run_program({.args = {"translate", "The group", "--term", "a=b", "--sample"}});
  CHECK(sampled.code == kUsage);
}

TEST_CASE("draws follow from the seed, alone and in a batch") {
  const RulesScene scene;
  const Result first = scene.translate({"--sample", "--n-best", "6"});
  REQUIRE_MESSAGE(first.code == kDone, first.err);
  CHECK(lines_of(first.out).size() == 6);
  CHECK(scene.translate({"--sample", "--n-best", "6"}).out == first.out);
  CHECK(scene.translate({"--sample", "--n-best", "6", "--sample-seed", "1"}).out == first.out);
  CHECK(scene.translate({"--sample", "--n-best", "6", "--sample-seed", "2"}).out != first.out);
  CHECK(scene.translate({"--sample", "--n-best", "6", "--temperature", "4"}).out != first.out);
  CHECK(scene.ids({"--sample", "--top-k", "1"}) == scene.ids({}));
  const Result batch = run_program({.args = {"translate", "--model", scene.model, "--max-length",
                                             "9", "--sample", "--n-best", "6"},
                                    .input = "went\nThe group went home\nthe a\n"});
  CHECK(batch.out.find(first.out) != std::string::npos);
}

TEST_CASE("options of draws and rules that make no sense are refused") {
  const RulesScene scene;
  const auto refused = [&](std::vector<std::string> more, const std::string& message) {
    const Result result = scene.translate(std::move(more));
    CHECK(result.code == kUsage);
    CHECK_MESSAGE(result.err.find(message) != std::string::npos, result.err);
  };
  refused({"--top-k", "5"}, "--top-k needs --sample");
  refused({"--sample-seed", "5"}, "--sample-seed needs --sample");
  refused({"--sample", "--beam", "4"}, "--beam 4 cannot be combined with it");
  refused({"--sample", "--tree", "--json", "-"}, "--sample cannot be combined with --tree");
  refused({"--sample", "--target", "Die"}, "--sample cannot be combined with --target");
  refused({"--sample", "--top-p", "0"}, "--top-p");
  refused({"--sample", "--temperature", "0"}, "--temperature");
  refused({"--repetition-penalty", "0"}, "--repetition-penalty");
  refused({"--no-repeat-ngram", "-1"}, "--no-repeat-ngram");
}

TEST_CASE("convert keeps every key of generation_config.json, and transformers can read them") {
  const TemporaryDirectory scene;
  ModelFiles model = ModelFiles::good();
  const Json said = {{"eos_token_id", 0},
                     {"decoder_start_token_id", 132},
                     {"pad_token_id", 132},
                     {"bos_token_id", 5},
                     {"no_repeat_ngram_size", 3},
                     {"encoder_no_repeat_ngram_size", 2},
                     {"repetition_penalty", 2.0},
                     {"min_length", 4},
                     {"max_new_tokens", 9},
                     {"suppress_tokens", {7}},
                     {"begin_suppress_tokens", {8, 9}},
                     {"sequence_bias", Json::array({Json::array({Json::array({3, 4}), -2.5})})},
                     {"num_beam_groups", 1},
                     {"transformers_version", "5.24.0"},
                     {"somebody's", {{"own", "key"}}}};
  model.files["generation_config.json"] = said.dump();
  const std::string out = scene.file("out");
  const Result result = run_program({.args = {"convert", "--model", model.write(scene, "m"),
                                              "--out", out, "--dtype", "float32"}});
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  CHECK(result.err == "");
  const std::string text = bytes_of(out + "/generation_config.json");
  const Json kept = Json::parse(text);
  for (const auto& item : said.items()) {
    const std::string& key = item.key();
    const Json& value = item.value();
    CHECK_MESSAGE(kept.value(key, Json()) == value, key, " became ",
                  kept.value(key, Json()).dump());
  }
  CHECK(kept["max_length"] == 10);
  CHECK(text.find("\"repetition_penalty\": 2.0") != std::string::npos);  // not an integer
}

}  // namespace attn::test
