// Tests multilingual tokenizers: ids of transformers' classes
// (tests/golden/make_language_goldens.py), errors, and Marian's language tags.
#include "text/languages.h"

#include <doctest/doctest.h>

#include "base/files/files.h"
#include "base/json.h"
#include "check_error.h"
#include "test_files.h"
#include "text/tokenizer.h"

namespace attn {
namespace {

using test::check_error;

const std::string kLanguages = test::kSource + "/tests/golden/languages/";

class Copy : public test::DirectoryCopy {
 public:
  explicit Copy(const std::string& name) : DirectoryCopy(kLanguages + name) {}
  void settings(const std::string& json) const { write_file(file("tokenizer_config.json"), json); }
};

TEST_CASE("ids, labels and texts of sentencepiece.bpe.model are those of its four classes") {
  const Json goldens = read_json_file(kLanguages + "goldens.json");
  REQUIRE(goldens.size() == 4);
  for (const Json& golden : goldens) {
    const std::string directory = golden["directory"];
    CAPTURE(directory);
    const Tokenizer tokenizer(kLanguages + directory);
    REQUIRE(golden["texts"].size() >= 80);
    for (const Json& one : golden["texts"]) {
      const std::string text = one["text"];
      CAPTURE(text);
      const auto id = [&](const char* key) {
        return tokenizer.languages().find(one[key].get<std::string>())->id;
      };
      CHECK(tokenizer.encode_source(text, id("source_lang")).ids ==
            one["source"].get<std::vector<int>>());
      const std::vector<int> labels = one["labels"];
      CHECK(tokenizer.encode_target(text, id("target_lang")).ids == labels);
      CHECK(tokenizer.decode_target(labels) == one["decoded"].get<std::string>());
    }
  }
}

TEST_CASE("languages are those of the class, with the ids of published weights") {
  const Tokenizer nllb(kLanguages + "Nllb");
  CHECK(nllb.languages().tokens.size() == 202);
  CHECK(nllb.languages().target_language_method == TargetLanguageMethod::forced_bos_token);
  CHECK(nllb.target_token(nllb.target_vocab_size() - 1) == "<mask>");
  CHECK(nllb.languages().tokens.back().id == nllb.target_vocab_size() - 2);
  CHECK(Tokenizer(kLanguages + "MBart").languages().target_language_method ==
        TargetLanguageMethod::decoder_start);
  CHECK(Tokenizer(kLanguages + "MBart50").languages().tokens.size() == 52);
  const Tokenizer m2m100(kLanguages + "M2M100");
  CHECK(m2m100.languages().tokens.size() == 100);
  CHECK(m2m100.source_token(m2m100.languages().find("de")->id) == "__de__");
  // Placeholder words that fill up the table are not tokens: the class writes <unk>, without a
  // space.
  const int made_up = m2m100.target_vocab_size() - 1;
  CHECK(m2m100.decode_target({made_up, made_up, 2}) == "<unk><unk>");
  std::vector<int> ids = m2m100.encode_target("home").ids;
  ids.push_back(made_up);
  for (const int id : m2m100.encode_target("home").ids) ids.push_back(id);
  CHECK(m2m100.decode_target(ids) == "home<unk>home");
  Copy older("M2M100");
  older.settings(R"({"tokenizer_class": "M2M100Tokenizer", "language_codes": "wmt21"})");
  CHECK(Tokenizer(older.path()).languages().tokens.size() == 8);
  // Tokens that never occur in text still need embedding rows, because any of them may be
  // requested.
  CHECK(nllb.target_ids_in_use() == nllb.target_vocab_size() - 1);
}

TEST_CASE("src_lang and tgt_lang stand around texts, and NLLB's language behind them as it was") {
  Copy nllb("Nllb");
  nllb.settings(
      R"({"tokenizer_class": "NllbTokenizerFast", "src_lang": "fra_Latn", "tgt_lang": "deu_Latn"})");
  const Tokenizer tokenizer(nllb.path());
  const auto id = [&](const char* code) { return tokenizer.languages().find(code)->id; };
  CHECK(tokenizer.encode_source("a").ids.front() == id("fra_Latn"));
  CHECK(tokenizer.encode_target("a").ids.front() == id("deu_Latn"));
  CHECK(tokenizer.encode_source("a").suffix_length == 1);
  nllb.settings(R"({"tokenizer_class": "NllbTokenizer", "legacy_behaviour": true})");
  const EncodedText legacy = Tokenizer(nllb.path()).encode_source("a");
  CHECK(legacy.ids.back() == id("eng_Latn"));
  CHECK(legacy.ids[legacy.ids.size() - 2] == 2);
  CHECK(legacy.suffix_length == 2);
}

TEST_CASE("the class makes the frame, whatever tokenizer.json's template says") {
  // Published NLLB files still have the old order: text, </s>, language.
  test::DirectoryCopy nllb(test::kSource + "/tests/golden/tokenizer_json/nllb");
  Json json = read_json_file(nllb.file("tokenizer.json"));
  Json& single = json["post_processor"]["single"];
  single = Json::array({single[1], single[2], single[0]});
  write_file(nllb.file("tokenizer.json"), json.dump());
  const Tokenizer tokenizer(nllb.path());
  const EncodedText text = tokenizer.encode_source("home");
  CHECK(text.pieces.front() == "eng_Latn");
  CHECK(text.pieces.back() == "</s>");
  CHECK(tokenizer.encode_target("home").pieces.front() == "deu_Latn");
  const int german = tokenizer.languages().find("deu_Latn")->id;
  CHECK(tokenizer.encode_source("home", german).ids.front() == german);
}

TEST_CASE("sentencepiece.bpe.model is read as the class that is named, and never guessed") {
  Copy copy("Nllb");
  const auto refused = [&](const std::string& settings, const std::string& message) {
    copy.settings(settings);
    check_error([&] { Tokenizer(copy.path()); }, ExitCode::input, message);
  };
  refused("{}",
          "tokenizer_config.json: tokenizer_class is missing; expected MBartTokenizer, "
          "MBart50Tokenizer, NllbTokenizer or M2M100Tokenizer, which read "
          "sentencepiece.bpe.model each in its own way");
  refused(R"({"tokenizer_class": "XLMRobertaTokenizer"})",
          "tokenizer_class is \"XLMRobertaTokenizer\"; expected MBartTokenizer");
  refused(R"({"tokenizer_class": "MBart50Tokenizer"})", "found no unigram model");
  refused(R"({"tokenizer_class": "M2M100Tokenizer"})", "vocab.json: no such file");
  refused(R"({"tokenizer_class": "NllbTokenizer", "src_lang": "xx"})",
          "tokenizer_config.json: src_lang is xx, and the tokenizer has no token for it; expected "
          "one of its 202: ace_Arab, ace_Latn, acm_Arab …");
  Copy unigram("MBart");
  unigram.settings(R"({"tokenizer_class": "NllbTokenizer"})");
  check_error([&] { Tokenizer(unigram.path()); }, ExitCode::input, "found no BPE model");
}

TEST_CASE("a Marian model's marks are its languages") {
  CHECK(Tokenizer(test::kDemo).languages().tokens.empty());
  const Tokenizer tokenizer(test::kGolden + "opus");
  CHECK(tokenizer.languages().tokens.size() == 2);
  CHECK(tokenizer.languages().target_language_method == TargetLanguageMethod::source_language_tag);
  const int german = tokenizer.languages().find("deu")->id;
  CHECK(tokenizer.encode_source("The group", german).ids ==
        tokenizer.encode_source(">>deu<< The group").ids);
  CHECK(tokenizer.encode_source(">>nld<< The group", german).ids ==
        tokenizer.encode_source(">>nld<< The group").ids);
}

}  // namespace
}  // namespace attn
