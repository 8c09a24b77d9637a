// Tests multilingual models: how languages are found, which token the model begins with, what
// inspect lists, and what is refused.
#include <doctest/doctest.h>

#include <algorithm>

#include "bad_input.h"
#include "language_scene.h"

namespace attn::test {

TEST_CASE("a language stands before the source, and begins the translation") {
  const LanguageScene nllb("m2m_100", "Nllb");
  const std::vector<std::string> pair{"--source-lang", "French", "--target-lang", "de"};
  for (const char* beam : {"1", "3"}) {
    std::vector<std::string> more = pair;
    more.insert(more.end(), {"--beam", beam, "--tree"});
    if (std::string(beam) == "1") more.pop_back();
    const Json record = nllb.record(more);
    CHECK(tokens(record["source"]).front() == "fra_Latn");
    CHECK(tokens(record["source"]).back() == "</s>");
    const Json& best = record["hypotheses"][0];
    CHECK(tokens(best).front() == "deu_Latn");
    const auto input = tokens(best["decoder_input"]);
    CHECK(input[0] == "</s>");
    CHECK(input[1] == "deu_Latn");
    CHECK(best["text"].get<std::string>().find("deu_Latn") == std::string::npos);
  }
  std::vector<std::string> given = pair;
  given.insert(given.end(), {"--target", "Die Gruppe"});
  const Json record = nllb.record(given);
  const Json& target = record["hypotheses"][0];
  CHECK(tokens(target).front() == "deu_Latn");
  CHECK(tokens(target).back() == "</s>");
  CHECK(target["text"] == "Die Gruppe");
  CHECK(tokens(target["decoder_input"])[1] == "deu_Latn");
}

TEST_CASE("an empty line has an empty translation, though languages stand around it") {
  const auto translation = [](const LanguageScene& scene, const std::string& language) {
    return scene.translate({"--target-lang", language, "--show", "none"}, "").out;
  };
  CHECK(translation(LanguageScene("m2m_100", "Nllb"), "de") == "\n");
  CHECK(translation(LanguageScene("m2m_100", "M2M100"), "de") == "\n");
  CHECK(translation(LanguageScene("mbart", "MBart"), "ro") == "\n");
  CHECK(translation(LanguageScene("marian", "opus"), "nl") == "\n");
}

TEST_CASE(
    "mBART's decoder begins with the language, M2M100's token has another text than its code") {
  const LanguageScene mbart("mbart", "MBart");
  const Json record =
      mbart.record({"--source-lang", "en", "--target-lang", "ro", "--beam", "2", "--tree"});
  const auto source = tokens(record["source"]);
  CHECK(source.back() == "en_XX");
  CHECK(source[source.size() - 2] == "</s>");
  CHECK(tokens(record["hypotheses"][0]["decoder_input"]).front() == "ro_RO");
  const LanguageScene m2m100("m2m_100", "M2M100");
  CHECK(tokens(m2m100.record({"--target-lang", "deu"})["hypotheses"][0]).front() == "__de__");
}

TEST_CASE("M2M100 has no place for <pad>, so none begins with it") {
  const LanguageScene scene("m2m_100",
                            "../tokenizer/opus");  // its <pad> is the last vocabulary entry
  const auto input = tokens(scene.record({})["hypotheses"][0]["decoder_input"]);
  CHECK(input.front() == "</s>");
  const std::string file = scene.model + "/generation_config.json";
  Json decode = read_json_file(file);
  const Json pad = read_json_file(scene.model + "/config.json")["pad_token_id"];
  decode["decoder_start_token_id"] = pad;
  write_file(file, decode.dump());
  const Result refused = scene.translate({});
  CHECK(refused.code == kInput);
  CHECK(refused.err.find("generation_config.json: decoder_start_token_id " + pad.dump() +
                         " is pad_token_id, to which m2m_100 gives no position; expected another, "
                         "most have eos_token_id 0") != std::string::npos);
  CHECK(std::ranges::count(refused.err, '\n') == 1);
}

TEST_CASE("a Marian model of several languages is told by a mark, in each part of a line") {
  const LanguageScene marian("marian", "opus");
  const auto source = tokens(marian.record({"--target-lang", "German"})["source"]);
  CHECK(source.front() == ">>deu<<");
  CHECK(tokens(marian.record({"--target-lang", "nl"})["source"]).front() == ">>nld<<");
  CHECK(tokens(marian.record({})["source"]).front() != ">>deu<<");
  marian.refused({"--source-lang", "en"}, "only needs the target language; leave it out");
  const auto split = [&](std::vector<std::string> more, const std::string& text) {
    more.insert(more.end(), {"--split", "sentences", "--show", "none"});
    return marian.translate(std::move(more), text).out;
  };
  CHECK(split({"--target-lang", "deu"}, "The group. The dog.") ==
        split({}, ">>deu<< The group. The dog."));
}

TEST_CASE("a model of several languages that is told none says so") {
  const LanguageScene nllb("m2m_100", "Nllb");
  const std::string note = "writes 202 languages, and its files choose none: say --target-lang";
  CHECK(nllb.translate({"--show", "none"}).err.find(note) != std::string::npos);
  CHECK(nllb.translate({"--show", "none", "--target-lang", "de"}).err.find(note) ==
        std::string::npos);
  const std::string file = nllb.model + "/generation_config.json";
  Json settings = Json::parse(read_file(file));
  settings["forced_bos_token_id"] = 347;  // eng_Latn
  write_file(file, settings.dump());
  const Result chosen = nllb.translate({"--target", "home", "--json", "-"});
  CHECK(chosen.err.find(note) == std::string::npos);
  CHECK(tokens(Json::parse(chosen.out)["hypotheses"][0]).front() == "eng_Latn");
}

TEST_CASE("evaluate scores in a language, and its reports on heads read those of the directory") {
  const LanguageScene nllb("m2m_100", "Nllb");
  write_file(nllb.directory.file("lines"), "home\n");
  const auto evaluate = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"evaluate", "--model", nllb.model, "--source", nllb.directory.file("lines"),
                 "--target", nllb.directory.file("lines"), "--target-lang", "de"});
    return run_program({.args = more});
  };
  const Result scored = evaluate({"--max-length", "4"});
  CHECK_MESSAGE(scored.code == kDone, scored.err);
  const Result heads = evaluate({"--report"});
  CHECK(heads.code == kUsage);
  CHECK(heads.err.find("src_lang and tgt_lang; leave --source-lang and --target-lang out") !=
        std::string::npos);
}

TEST_CASE("a long source keeps the language behind it") {
  const LanguageScene mbart("mbart", "MBart");
  std::string text;
  for (int i = 0; i < 600; ++i) text += "home ";
  const Result result =
      mbart.translate({"--source-lang", "de_DE", "--split", "never", "--json", "-"}, text);
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  const auto source = tokens(Json::parse(result.out)["source"]);
  CHECK(source.back() == "de_DE");
  CHECK(source[source.size() - 2] == "</s>");
}

TEST_CASE("inspect lists the languages of a model") {
  const LanguageScene nllb("m2m_100", "Nllb");
  const Result table = run_program({.args = {"inspect", "--model", nllb.model, "--languages"}});
  CHECK(table.code == kDone);
  CHECK(table.out.find("202 languages") != std::string::npos);
  CHECK(table.out.find("Chinese (Simplified)") != std::string::npos);
  const Result json =
      run_program({.args = {"inspect", "--model", nllb.model, "--languages", "--json", "-"}});
  const Json list = Json::parse(json.out)["languages"];
  CHECK(list.size() == 202);
  CHECK(list[0]["code"] == "ace_Arab");
  const auto german =
      std::ranges::find_if(list, [](const Json& one) { return one["code"] == "deu_Latn"; });
  REQUIRE(german != list.end());
  CHECK((*german)["name"] == "German");
  CHECK((*german)["token"] == "deu_Latn");
  for (const Json& one : list) {  // all have a name, even those that ICU does not know
    CAPTURE(one.dump());
    CHECK(one["name"].get<std::string>().find(one["code"].get<std::string>().substr(0, 3)) != 0);
  }
  CHECK(nllb.record({"--target-lang", "tamasheq (tifinagh)"})["hypotheses"][0]["tokens"][0] ==
        "taq_Tfng");
}

TEST_CASE("languages that are unknown, several or none are refused in one line") {
  const LanguageScene nllb("m2m_100", "Nllb");
  nllb.refused({"--target-lang", "xx"}, "--target-lang xx: ");
  nllb.refused({"--target-lang", "Germn"},
               "has no such language among its 202; the nearest is deu_Latn (German)");
  // Another script is another language, and is not guessed.
  nllb.refused({"--target-lang", "srp_Latn"},
               "has no such language among its 202; the nearest is srp_Cyrl (Serbian)");
  nllb.refused({"--target-lang", "deu-latm"},
               "has no such language among its 202; the nearest is deu_Latn (German)");
  nllb.refused({"--target-lang", "zh"},
               "--target-lang zh may be zho_Hans (Chinese (Simplified)) or zho_Hant (Chinese "
               "(Traditional)): say which");
  nllb.refused({"--source-lang", ""}, "--source-lang: the value is empty");
  const Result none = run_program({.args = {"translate", "--target-lang", "de", "home"}});
  CHECK(none.code == kUsage);
  CHECK_MESSAGE(none.err.find("has no language tokens; leave it out") != std::string::npos,
                none.err);
  const Result config =
      run_program({.args = {"inspect", "--languages", "--config", kSource + "/configs/demo.json"}});
  CHECK(config.code == kUsage);
}

}  // namespace attn::test
