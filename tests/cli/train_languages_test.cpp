// Tests train with languages: the language tokens around texts, the settings of the saved
// directory, and errors.
#include <doctest/doctest.h>

#include "bad_training.h"
#include "language_scene.h"

namespace attn::test {
namespace {

/// A training scene that starts from a multilingual model.
struct TrainLanguages : TrainScene {
  LanguageScene first;

  TrainLanguages(const std::string& type, const std::string& tokenizer) : first(type, tokenizer) {
    config.erase("model");
    config.erase("tokenizer");
    config["data"]["probe_target"] = "die Gruppe ging";
    config["train"]["batch_tokens"] = 1000;
    config["train"]["updates"] = 6;
  }
  std::vector<std::string> into(const std::string& target,
                                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"--from", first.model, "--target-lang", target};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Json kept(const std::string& run, const std::string& name) const {
    return Json::parse(bytes_of(file(run + "/model/" + name)));
  }
  Json translated(const std::string& run) const {
    const Result result = run_program({.args = {"translate", "--model", file(run + "/model"),
                                                "--max-length", "6", "--json", "-", "home"}});
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    CHECK(result.err.find("choose none") == std::string::npos);
    return Json::parse(result.out);
  }
};

}  // namespace

TEST_CASE("a run learns from one language into another, and what is kept translates so") {
  const TrainLanguages scene("m2m_100", "Nllb");
  const Result result = scene.train("run", scene.into("de", {"--source-lang", "French"}));
  REQUIRE_MESSAGE(result.code == kDone, result.err);
  CHECK_MESSAGE(result.err.find("languages: from French (fra_Latn) into German (deu_Latn)") !=
                    std::string::npos,
                result.err);
  const Json probe = log_of(scene.file("run"), "probe.jsonl").back();
  CHECK(tokens(probe["source"]).front() == "fra_Latn");
  const Json& hypothesis = probe["hypotheses"][0];
  CHECK(tokens(hypothesis).front() == "deu_Latn");
  CHECK(tokens(hypothesis).back() == "</s>");
  CHECK(tokens(hypothesis["decoder_input"])[0] == "</s>");
  CHECK(tokens(hypothesis["decoder_input"])[1] == "deu_Latn");

  const Json settings = scene.kept("run", "tokenizer_config.json");
  CHECK(settings["src_lang"] == "fra_Latn");
  CHECK(settings["tgt_lang"] == "deu_Latn");
  CHECK(scene.kept("run", "generation_config.json")["forced_bos_token_id"] == hypothesis["ids"][0]);
  CHECK(scene.kept("run", "config.json")["pad_token_id"] == 1);
  const Json record = scene.translated("run");
  CHECK(tokens(record["source"]).front() == "fra_Latn");
  CHECK(tokens(record["hypotheses"][0]).front() == "deu_Latn");
  CHECK(Json::parse(bytes_of(scene.file("run/config.json")))["data"]["target_lang"] == "de");
  // The loss decreases, and the dev text is translated into the learned language.
  const std::vector<Json> log = log_of(scene.file("run"));
  REQUIRE(log.size() > 2);
  REQUIRE(log.back()["event"] == "end");
  CHECK(log[log.size() - 2]["loss"].get<double>() < log.front()["loss"].get<double>());
}

TEST_CASE("mBART's decoder is kept beginning with the language") {
  const TrainLanguages scene("mbart", "MBart");
  scene.must_train("run", scene.into("ro"));
  const Json record = scene.translated("run");
  CHECK(tokens(record["source"]).back() == "en_XX");
  const Json& best = record["hypotheses"][0];
  CHECK(tokens(best["decoder_input"]).front() == "ro_RO");
  CHECK(scene.kept("run", "config.json")["decoder_start_token_id"] ==
        best["decoder_input"]["ids"][0]);
  CHECK_FALSE(scene.kept("run", "generation_config.json").contains("forced_bos_token_id"));
  // Continuing from the saved model needs no language option; its files choose the language.
  scene.must_train("more", {"--from", scene.file("run/model")});
  CHECK(scene.kept("more", "tokenizer_config.json") == scene.kept("run", "tokenizer_config.json"));
}

TEST_CASE("the config may say the languages, and the command line counts before it") {
  TrainLanguages scene("m2m_100", "M2M100");
  scene.must_train("typed", scene.into("de", {"--source-lang", "fr"}));
  scene.config["data"].update({{"source_lang", "French"}, {"target_lang", "de"}});
  scene.must_train("told", {"--from", scene.first.model});
  check_same_run(scene.file("typed"), scene.file("told"));
  scene.config["data"]["target_lang"] = "nl";
  scene.must_train("both", scene.into("de"));
  check_same_run(scene.file("typed"), scene.file("both"));
}

TEST_CASE("a run with languages goes on as if it had not stopped, and in no other languages") {
  const TrainLanguages scene("m2m_100", "Nllb");
  scene.must_train("stopped", scene.into("de", {"--set", updates(4)}));
  scene.must_train("stopped", scene.into("de", {"--resume"}));
  scene.must_train("whole", scene.into("deu_Latn"));
  CHECK(read_checkpoint(newest_checkpoint_of(scene.file("stopped"))).arrays ==
        read_checkpoint(newest_checkpoint_of(scene.file("whole"))).arrays);
  const Result other = scene.train("whole", scene.into("nl", {"--resume", "--set", updates(9)}));
  CHECK(other.code == kInput);
  CHECK_MESSAGE(
      other.err.find("languages.target was \"deu_Latn\" and is \"nld_Latn\"") != std::string::npos,
      other.err);
}

TEST_CASE("a new model of several languages is trained, too") {
  TrainLanguages scene("mbart", "MBart50");
  scene.config["model"] = {{"model_type", "mbart"},        {"d_model", 8},
                           {"encoder_layers", 1},          {"decoder_layers", 1},
                           {"encoder_attention_heads", 2}, {"decoder_attention_heads", 2},
                           {"encoder_ffn_dim", 8},         {"decoder_ffn_dim", 8}};
  scene.config["tokenizer"] = {{"model", kSource + "/tests/golden/languages/MBart50"}};
  scene.must_train("run", {"--target-lang", "de"});
  CHECK(tokens(scene.translated("run")["hypotheses"][0]).front() == "de_DE");
  // Padding counts as a class here and is not masked, so no −1e4 gets into a smoothed loss.
  CHECK(log_of(scene.file("run")).front()["loss"].get<double>() < 20);
}

TEST_CASE("--target-lang puts Marian's mark before sources that have none, cut at random too") {
  TrainLanguages scene("marian", "opus");
  const auto mark = [&](const char* name) {
    std::string marked;
    for (const std::string& line : lines_of(bytes_of(scene.file(name)))) {
      marked += ">>deu<<" + line + "\n";
    }
    scene.directory.write("marked." + std::string(name), marked);
  };
  mark("train.en");
  mark("dev.en");
  for (const char* sampling : {"0", "0.3"}) {
    const std::string run = std::string("run") + sampling;
    const std::vector<std::string> more{"--set", std::string("tokenizer.sampling=") + sampling};
    Result result = scene.train(run, scene.into("German", more));
    REQUIRE_MESSAGE(result.code == kDone, result.err);
    CHECK_MESSAGE(result.err.find("--target-lang deu") != std::string::npos, result.err);
    std::vector<std::string> plain{"--from", scene.first.model,
                                   "--set",  "data.train.source=marked.train.en",
                                   "--set",  "data.dev.source=marked.dev.en"};
    plain.insert(plain.end(), more.begin(), more.end());
    scene.must_train("marked" + run, plain);
    CHECK(bytes_of(scene.file(run + "/model/model.safetensors")) ==
          bytes_of(scene.file("marked" + run + "/model/model.safetensors")));
  }
}

TEST_CASE("languages that are missing, unknown or none are refused in one line") {
  const LanguageScene nllb("m2m_100", "Nllb");
  const LanguageScene opus("marian", "opus");
  const std::vector<std::string> from{"--from", nllb.model};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), from.begin(), from.end());
    return more;
  };
  const auto plain = [](TrainScene& scene) {
    scene.config.erase("model");
    scene.config.erase("tokenizer");
  };
  const auto told = [&](const char* key, const char* language) {
    return [=](TrainScene& scene) {
      plain(scene);
      scene.config["data"][key] = language;
    };
  };
  check_all_bad({
      {"none",
       kUsage,
       {"writes 202 languages, and its files choose none: give --target-lang"},
       plain,
       from},
      {"unknown",
       kUsage,
       {"--target-lang Germn: ",
        "does not have this language among its 202; the nearest is deu_Latn"},
       plain,
       with({"--target-lang", "Germn"})},
      {"unknown source",
       kUsage,
       {"--source-lang xx: "},
       plain,
       with({"--source-lang", "xx", "--target-lang", "de"})},
      {"several",
       kUsage,
       {"--target-lang zh may be zho_Hans"},
       plain,
       with({"--target-lang", "zh"})},
      {"in the config",
       kInput,
       {"experiment.json: data.target_lang Germn: ", "the nearest is deu_Latn"},
       told("target_lang", "Germn"),
       from},
      {"empty in the config", kInput, {"data.source_lang is empty"}, told("source_lang", ""), from},
      {"no text",
       kUsage,
       {"--target-lang: the value is empty"},
       plain,
       with({"--target-lang", ""})},
      {"a model that has none",
       kUsage,
       {"--target-lang de: ", "has no language tokens; leave it out"},
       plain,
       {"--from", kSource + "/data/models/en-de", "--target-lang", "de"}},
      {"a tokenizer that is made",
       kUsage,
       {"--target-lang de: the tokenizer of ", "experiment.json has no language tokens; leave"},
       {},
       {"--target-lang", "de"}},
      {"a source of Marian's",
       kUsage,
       {"only needs the target language; leave it out"},
       plain,
       {"--from", opus.model, "--source-lang", "en"}},
  });
}

}  // namespace attn::test
