// Tests tokenizer.json: the ids are those of the tokenizers library, and every unsupported part is
// refused by name (tests/golden/make_tokenizer_json_goldens.py).
#include "text/pipeline/tokenizer_json.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/json.h"
#include "check_error.h"
#include "temporary_directory.h"
#include "text/tokenizer.h"

namespace attn {
namespace {

using namespace test;

const std::string kJsonGoldens = std::string(ATTN_SOURCE_DIR) + "/tests/golden/tokenizer_json/";

TEST_CASE("ids and texts equal those of the tokenizers library") {
  const Json goldens = read_json_file(kJsonGoldens + "goldens.json");
  REQUIRE(goldens.size() == 24);
  for (const Json& golden : goldens) {
    const std::string directory = golden["directory"];
    CAPTURE(directory);
    const Tokenizer tokenizer(kJsonGoldens + directory);
    REQUIRE(golden["texts"].size() >= 50);
    for (const Json& one : golden["texts"]) {
      std::vector<int> ids = one["ids"].get<std::vector<int>>();
      if (one.contains("text")) {
        const std::string text = one["text"];
        CAPTURE(text);
        const EncodedText encoded = tokenizer.encode_source(text);
        CHECK(encoded.ids == ids);
        CHECK(encoded.pieces.size() == ids.size());
      }
      CHECK(tokenizer.decode_target(ids) == one["decoded"].get<std::string>());
    }
  }
}

TEST_CASE("an added token has its id, in a text and decoded") {
  for (const char* name : {"bart", "led", "pegasus", "t5", "mbart", "mbart50", "nllb"}) {
    CAPTURE(name);
    const Tokenizer tokenizer(kJsonGoldens + name);
    const int id = tokenizer.target_vocab_size() - 1;
    CHECK(tokenizer.source_token(id) == "<NAME>");
    const std::vector<int> ids = tokenizer.encode_source("Hello <NAME>!").ids;
    CHECK(std::ranges::count(ids, id) == 1);
    CHECK(tokenizer.decode_target(ids).find("<NAME>") != std::string::npos);
    CHECK(tokenizer.source_ids_in_use() == id + 1);
  }
}

TEST_CASE("the model's own marks are text where they are typed") {
  // A unigram model that has the special tokens as pieces finds them in text, as in the library.
  for (const char* name : {"bart", "led", "nllb"}) {
    CAPTURE(name);
    const Tokenizer tokenizer(kJsonGoldens + name);
    const int end = tokenizer.special_tokens().eos;
    CHECK(std::ranges::count(tokenizer.encode_source("a </s> b").ids, end) == 1);
  }
}

TEST_CASE("a translation stands in its own language's frame") {
  const auto last_two = [](const EncodedText& text) {
    return std::vector<std::string>(text.pieces.end() - 2, text.pieces.end());
  };
  const Tokenizer mbart(kJsonGoldens + "mbart");
  CHECK(last_two(mbart.encode_source("a")) == std::vector<std::string>{"</s>", "en_XX"});
  CHECK(last_two(mbart.encode_target("a")) == std::vector<std::string>{"</s>", "de_DE"});
  const Tokenizer nllb(kJsonGoldens + "nllb");
  CHECK(nllb.encode_source("a").pieces.front() == "eng_Latn");
  CHECK(nllb.encode_target("a").pieces.front() == "deu_Latn");
}

/// Returns a valid file with byte pairs.
Json good_pairs() {
  return Json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null,
    "added_tokens": [{"id": 0, "content": "</s>", "single_word": false, "lstrip": false,
                      "rstrip": false, "normalized": false, "special": true}],
    "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"},
    "post_processor": {"type": "RobertaProcessing", "cls": ["<pad>", 1], "sep": ["</s>", 0]},
    "decoder": null,
    "model": {"type": "BPE", "unk_token": "<unk>",
              "vocab": {"</s>": 0, "<pad>": 1, "<unk>": 2, "a": 3, "b": 4, "ab": 5},
              "merges": [["a", "b"]]}})");
}

Json good_unigram() {
  Json json = good_pairs();
  json["model"] = Json::parse(
      R"({"type": "Unigram", "unk_id": 2, "vocab": [["</s>", 0], ["<pad>", 0], ["<unk>", 0], ["a", -1.5]]})");
  return json;
}

TEST_CASE("files without what has a default, and of old") {
  const auto ids = [](const Json& json, const char* text) {
    const TemporaryDirectory scene;
    scene.write("tokenizer.json", json.dump());
    return Tokenizer(scene.path()).encode_source(text).ids;
  };
  CHECK(ids(good_pairs(), "ab ax") == std::vector<int>{1, 5, 3, 2, 0});
  Json old = good_pairs();
  old["model"].erase("type");
  old["model"]["merges"] = {"a b"};
  for (const char* key : {"version", "truncation", "padding", "normalizer", "decoder"})
    old.erase(key);
  CHECK(ids(old, "ab ax") == std::vector<int>{1, 5, 3, 2, 0});
  CHECK(ids(good_unigram(), "aa xx") == std::vector<int>{1, 3, 3, 2, 0});
}

void refused(const Json& json, const std::string& message) {
  check_error([&] { read_tokenizer_json(json.dump(), {}, "tokenizer.json"); }, ExitCode::input,
              message);
  check_error([&] { read_tokenizer_json(json.dump(), {}, "tokenizer.json"); }, ExitCode::input,
              "tokenizer.json");
}

/// Returns the valid file with another value at a path.
Json with(Json json, const char* pointer, const char* value) {
  json[Json::json_pointer(pointer)] = Json::parse(value);
  return json;
}

TEST_CASE("what is not known is refused by its name") {
  const Json pairs = good_pairs();
  refused(with(pairs, "/normalizer", R"({"type": "BertNormalizer"})"),
          "tokenizer.json: normalizer: type \"BertNormalizer\" is not supported; supported are "
          "Sequence, Lowercase");
  refused(with(pairs, "/normalizer", R"({"type": "Sequence", "normalizers": [{"type": "Nmt"}]})"),
          "\"Nmt\" is not supported");
  refused(with(pairs, "/pre_tokenizer", R"({"type": "Digits", "individual_digits": true})"),
          "pre_tokenizer: type \"Digits\" is not supported");
  refused(with(pairs, "/post_processor", R"({"type": "BertProcessing"})"),
          "post_processor: type \"BertProcessing\" is not supported");
  refused(with(pairs, "/decoder", R"({"type": "CTC"})"), "decoder: type \"CTC\" is not supported");
  refused(with(pairs, "/model/type", R"("WordPiece")"),
          "model: type \"WordPiece\" is not supported; supported are BPE and Unigram");
  refused(with(pairs, "/normalizer",
               R"({"type": "Replace", "pattern": {"Regex": "(a+)+"}, "content": ""})"),
          "\"(a+)+\" is an unsupported regular expression; supported are \" {2,}\"");
  refused(with(pairs, "/pre_tokenizer",
               R"({"type": "Split", "pattern": {"String": " "}, "behavior": "Dropped"})"),
          "behavior \"Dropped\" is not supported; supported are Removed");
  refused(with(pairs, "/pre_tokenizer",
               R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "last"})"),
          "prepend_scheme \"last\" is not supported; supported are always, first and never");
  refused(with(pairs, "/pre_tokenizer/later_key", "1"), "later_key");
  refused(with(pairs, "/model/later_key", "1"), "later_key");
  refused(with(pairs, "/later_key", "1"), "later_key");
  refused(with(pairs, "/model/continuing_subword_prefix", R"("##")"),
          "model: continuing_subword_prefix is \"##\", which is not supported; expected none");
  refused(with(pairs, "/model/end_of_word_suffix", R"("</w>")"), "end_of_word_suffix is");
  refused(with(pairs, "/model/dropout", "0.1"), "model: dropout is 0.1; expected null");
  refused(with(pairs, "/model/ignore_merges", "true"),
          "ignore_merges is true, which is not supported");
}

TEST_CASE("damaged files") {
  const Json pairs = good_pairs();
  const Json unigram = good_unigram();
  check_error([] { read_tokenizer_json("{", {}, "tokenizer.json"); }, ExitCode::input, ":1:2");
  refused(Json::array(), "expected a JSON object");
  refused(with(pairs, "/model", "null"), "model");
  refused(with(pairs, "/normalizer", "[]"), "normalizer is []; expected an object with its type");
  refused(with(pairs, "/normalizer", R"({"type": 1})"), "type");
  refused(with(pairs, "/normalizer", R"({"type": "Sequence"})"), "normalizers is missing");
  refused(with(pairs, "/normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "A"})"),
          "precompiled_charsmap is no base64");
  refused(
      with(pairs, "/normalizer", R"({"type": "Precompiled", "precompiled_charsmap": "AAAAAAAA"})"),
      "normalization rules");
  refused(with(pairs, "/normalizer", R"({"type": "Replace", "pattern": {"String": ""}})"),
          "pattern");
  refused(with(pairs, "/normalizer", R"({"type": "Prepend", "prepend": 3})"), "prepend");
  refused(with(pairs, "/decoder", R"({"type": "Strip", "content": " ", "start": -1})"),
          "start is -1; expected 0 to 1000");
  refused(with(pairs, "/model/vocab/x", "7"), "piece \"x\" has id 7 and id 6 is missing");
  refused(with(pairs, "/model/vocab/x", "5"), "id 5 belongs to both");
  refused(with(pairs, "/model/vocab/x", "-1"), "vocab has the id -1");
  refused(with(pairs, "/model/vocab/x", "1.5"), "vocab has the id 1.5");
  refused(with(pairs, "/model/vocab", "{}"), "no pieces");
  refused(with(pairs, "/model/vocab", "[]"), "vocab is missing");
  refused(with(pairs, ("/model/vocab/" + std::string(2049, 'x')).c_str(), "6"),
          "piece of 2049 bytes");
  refused(with(pairs, "/model/merges/0", R"(["a", "c"])"),
          "merges: 0: \"c\" is not in the vocabulary");
  refused(with(pairs, "/model/merges/0", R"(["b", "a"])"), "\"ba\" is not in the vocabulary");
  refused(with(pairs, "/model/merges/1", R"("a b")"), "occurs a second time");
  refused(with(pairs, "/model/merges/0", R"("a b c")"), "expected two pieces");
  refused(with(pairs, "/model/merges/0", R"(["a"])"), "expected two pieces");
  refused(with(pairs, "/model/unk_token", R"("<none>")"), "\"<none>\" is missing");
  refused(with(unigram, "/model/unk_id", "4"), "unk_id is not an id from 0 to 3");
  refused(with(unigram, "/model/unk_id", "-1"), "unk_id is not an id from 0 to 3");
  refused(with(unigram, "/model/vocab/0", R"(["a"])"), "expected a piece and its score");
  refused(with(unigram, "/model/vocab", "[]"), "vocab is missing");
  refused(with(pairs, "/added_tokens/0/content", R"("<s>")"),
          "added_tokens: \"<s>\" has id 0, which is the piece \"</s>\" already");
  refused(with(pairs, "/added_tokens/1", R"({"id": 8, "content": "<NAME>"})"),
          "\"<NAME>\" has id 8, and id 6 has no piece");
  refused(with(pairs, "/added_tokens/1", R"({"content": "<NAME>"})"), "an added token is");
  refused(with(pairs, "/added_tokens/1", R"({"id": 6, "content": ""})"), "an added token is");
  refused(with(pairs, "/added_tokens/0/lstrip", "1"), "lstrip is 1; expected true or false");
  refused(with(pairs, "/added_tokens", "{}"), "added_tokens");
  refused(with(pairs, "/post_processor/cls", R"(["x", 6])"), "puts id 6 around a text");
  refused(with(pairs, "/post_processor/cls", R"("x")"), "cls is not a pair of a token and its id");
  const Json framed = with(pairs, "/post_processor", R"({"type": "TemplateProcessing",
      "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
      "pair": [], "special_tokens": {"</s>": {"id": "</s>", "ids": [0], "tokens": ["</s>"]}}})");
  refused(with(framed, "/post_processor/single/0", R"({"Sequence": {"id": "B"}})"),
          "expected SpecialToken, and Sequence A once");
  refused(with(framed, "/post_processor/single/2", R"({"Sequence": {"id": "A"}})"),
          "Sequence A once");
  refused(with(framed, "/post_processor/single/0", R"({"SpecialToken": {"id": "</s>"}})"),
          "has no Sequence A, which is the text");
  refused(with(framed, "/post_processor/special_tokens", "{}"), "has no ids of \"</s>\"");
  Json no_end = pairs;
  no_end["model"]["vocab"] = {{"</S>", 0}, {"<pad>", 1}, {"<unk>", 2}};
  no_end["model"]["merges"] = Json::array();
  no_end["added_tokens"] = Json::array();
  refused(no_end, "the special piece \"</s>\" is missing");
}

}  // namespace
}  // namespace attn
