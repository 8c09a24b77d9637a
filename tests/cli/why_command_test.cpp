// Tests attn-demo why on the command line: the output for the demo sentence, and errors.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/json.h"
#include "model_files.h"
#include "run_program.h"

namespace attn::test {
namespace {

constexpr const char* kSentence = "The group went home";

Result why(std::vector<std::string> more, const std::string& sentence = kSentence) {
  std::vector<std::string> args{"why", sentence};
  args.insert(args.end(), more.begin(), more.end());
  return run_program({.args = std::move(args)});
}

void check_refused(const std::vector<std::string>& args, int code, const std::string& part,
                   const std::string& sentence = kSentence) {
  const Result result = why(args, sentence);
  CHECK_MESSAGE(result.code == code, result.err);
  CHECK_MESSAGE(result.err.find(part) != std::string::npos, result.err);
  CHECK(result.out.empty());
}

}  // namespace

TEST_CASE("why: the demo sentence in at most 20 lines, each word with its source word") {
  const Result result = why({});
  REQUIRE_MESSAGE(result.code == 0, result.err);
  CHECK(std::ranges::count(result.out, '\n') <= 20);
  for (const char* part : {"Die Gruppe ging nach Hause", "group ", "went ", "prefix", "rest"}) {
    CHECK_MESSAGE(result.out.find(part) != std::string::npos, part, " in ", result.out);
  }
  CHECK(std::ranges::count(why({"--short"}).out, '\n') == 6);
}

TEST_CASE("why --instead compares with a given word, with and without --word") {
  const Result result = why({"--word", "Hause", "--instead", "Haus"});
  REQUIRE_MESSAGE(result.code == 0, result.err);
  CHECK(result.out.find("over Haus:") != std::string::npos);
  CHECK(why({"--instead", "Die Gruppe ging nach Haus"}).out == result.out);
  CHECK(why({"--word", "4", "--instead", "Haus"}).out == result.out);
  const Json json = Json::parse(why({"--word", "Hause", "--instead", "Haus", "--json", "-"}).out);
  CHECK(json["format"] == "attn-demo.why");
  CHECK(json["foil"]["tokens"][4] == "▁Haus");
  CHECK(json["receipt"]["word"]["cross"][4].size() == 3);
}

TEST_CASE("why --methods adds their keys, and --csv is a table") {
  const Json json =
      Json::parse(why({"--methods", "all", "--corrupt", "The woman went home", "--json", "-"}).out);
  for (const char* key : {"receipt", "occlusion", "alti", "alti_plus", "logit_lens", "decoder_lens",
                          "gradient", "integrated_gradients", "patching"}) {
    CHECK_MESSAGE(json.contains(key), key);
  }
  CHECK(json["decoder_lens"].back()["text"] == "Die Gruppe ging nach Hause");
  CHECK(json["occlusion"]["drop"][1].size() == 4);
  const Result table = why({"--methods", "contributions", "--csv", "-"});
  REQUIRE_MESSAGE(table.code == 0, table.err);
  CHECK(table.out.find("\r\nalti.cross,2,,5,</s>,5,residual,") != std::string::npos);
}

TEST_CASE("why compares with the end of the sentence, and reports tokens that it does not know") {
  const Result end = why({"--word", "Gruppe", "--instead", "</s>"});
  REQUIRE_MESSAGE(end.code == 0, end.err);
  CHECK(end.out.find("over </s>:") != std::string::npos);
  const Result unknown = run_program(
      {.args = {"why", "the group", "--config", demo_config(), "--target", "die 日本 gruppe"}});
  CHECK_MESSAGE(unknown.err.find("the given translation has a token that the vocabulary does not "
                                 "have (<unk>)") != std::string::npos,
                unknown.err);
}

TEST_CASE("why --json says which sources patching compares") {
  const Result result =
      why({"--methods", "patch,integrated", "--corrupt", "The woman went home", "--json", "-"});
  REQUIRE_MESSAGE(result.code == 0, result.err);
  const Json json = Json::parse(result.out);
  CHECK(json["integrated_gradients"]["steps"] == 64);
  const Json& patching = json["patching"];
  CHECK(patching["clean"] == json["source"]["ids"]);
  CHECK(patching["corrupt"].size() == patching["clean"].size());
  CHECK(patching["corrupt"] != patching["clean"]);
  CHECK(patching["corrupt_target"][patching["step"].get<std::size_t>()] == patching["foil"]);
}

TEST_CASE("why refuses what it cannot answer, in one line") {
  check_refused({"--word", "Katze"}, 2, "--word Katze: the translation has no such word");
  check_refused({"--word", "17"}, 2, "--word 17: the translation has tokens 0 to 5");
  check_refused({"--word", "Hause", "--instead", "Hause"}, 2,
                "--instead Hause: the translation has this word already");
  check_refused({"--instead", "Haus"}, 2, "add --word to say which word it replaces");
  check_refused({"--instead", "Die Gruppen gingen nach Hause"}, 2, "2 of its words differ");
  check_refused({"--instead", "Die Gruppe ging nach Hause"}, 2, "this is the translation itself");
  check_refused({"--methods", "magic"}, 2, "--methods magic: no such method; use all, receipt");
  check_refused({"--methods", "patch"}, 2, "--methods patch needs --corrupt");
  check_refused({"--units", "letters"}, 2, "--units letters: expected words or tokens");
  check_refused({}, 3, "the sentence has no tokens", "  ");
  std::string longer;
  for (int i = 0; i < 600; ++i) longer += "Haus ";
  check_refused({"--target", longer}, 3, "the target has 601 tokens, and the model has 512");
  CHECK(std::ranges::count(why({"--target", longer}).err, '\n') == 1);
  check_refused({"--word", "5", "--instead", "</s>"}, 2, "the translation has this word already");
  check_refused({"--methods", "patch", "--corrupt", "The group went"}, 3,
                "swap words for others of as many tokens");
  const std::string shipped = std::string(ATTN_SOURCE_DIR) + "/data/models/en-de";
  check_refused({"--model", shipped, "--model", shipped}, 2, "why explains one model");
}

}  // namespace attn::test
