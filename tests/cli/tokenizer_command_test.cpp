// Tests attn-demo tokenizer: its files, their uses, and its errors.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <filesystem>

#include "bad_input.h"

namespace attn::test {
namespace {

namespace fs = std::filesystem;

const std::string kToyTexts = std::string(ATTN_SOURCE_DIR) + "/data/toy/";

/// Runs tokenizer on the toy's training text, writing to `out`.
Result train(const std::string& out, const std::vector<std::string>& more) {
  std::vector<std::string> args = {
      "tokenizer", "--source", kToyTexts + "train.en", "--target", kToyTexts + "train.de",
      "--out",     out};
  args.insert(args.end(), more.begin(), more.end());
  return run_program({.args = args});
}

/// Writes a small experiment that uses the tokenizer in folder `t` beside it.
std::string write_config(const TemporaryDirectory& scene, const std::string& model = "") {
  return scene.write("config.json",
                     "{\"model\": {\"d_model\": 12, \"encoder_layers\": 1, \"decoder_layers\": 1, "
                     "\"encoder_attention_heads\": 2, \"decoder_attention_heads\": 2, "
                     "\"encoder_ffn_dim\": 24, \"decoder_ffn_dim\": 24, "
                     "\"max_position_embeddings\": 64" +
                         model + "}, \"tokenizer\": {\"model\": \"t\"}}");
}

bool says(const Result& result, const std::string& part) {
  return result.out.find(part) != std::string::npos;
}

void two_files(const TemporaryDirectory& scene) {
  scene.write("a.en", "The group went home\n");
  scene.write("a.de", "Die Gruppe ging nach Hause\n");
  scene.write("empty", "");
  scene.write("blank", " \n\n  \n");
  scene.write("long", std::string(5000, 'a') + "\n");
}

BadCase with_files(const std::string& name, std::vector<std::string> args, int code,
                   const std::vector<std::string>& parts) {
  args.insert(args.begin(), "tokenizer");
  return {name, args, code, parts, two_files};
}

BadCase with_config(const std::string& name, const std::string& config,
                    const std::vector<std::string>& more, int code,
                    const std::vector<std::string>& parts) {
  std::vector<std::string> args = {"tokenizer", "{dir}/config.json", "--out", "{dir}/t"};
  args.insert(args.end(), more.begin(), more.end());
  return {name, args, code, parts, [config](const TemporaryDirectory& scene) {
            two_files(scene);
            scene.write("config.json", config);
          }};
}

}  // namespace

TEST_CASE("whole words: every word of the toy, and a model that takes them") {
  const TemporaryDirectory scene;
  const Result made = train(scene.file("t"), {"--type", "word"});
  CHECK(made.code == kDone);
  CHECK(made.err == "");
  CHECK(says(made, "whole-word tokenizer, 88 pieces and <pad>, one vocabulary for en and de"));
  CHECK(says(made, "fewer pieces than the requested 8000"));
  CHECK(says(made, "files: source.spm, target.spm, vocab.json, tokenizer_config.json"));
  CHECK(listing(scene.file("t")) == std::vector<std::string>{"source.spm", "target.spm",
                                                             "tokenizer_config.json",
                                                             "vocab.json"});
  const Json vocabulary = Json::parse(bytes_of(scene.file("t/vocab.json")));
  CHECK(vocabulary.size() == 89);
  CHECK(vocabulary.at("</s>") == 0);
  CHECK(vocabulary.at("<unk>") == 1);
  CHECK(vocabulary.at("<pad>") == 88);
  CHECK(vocabulary.contains("▁Gruppe"));

  const Result init =
      run_program({.args = {"init", "--config", write_config(scene), "--out", scene.file("m")}});
  REQUIRE(init.code == kDone);
  const Result translated = run_program(
      {.args = {"translate", "--model", scene.file("m"), "The group went home", "--json", "-"}});
  REQUIRE(translated.code == kDone);
  const Json record = Json::parse(translated.out);
  CHECK(record["source"]["tokens"] == Json({"▁The", "▁group", "▁went", "▁home", "</s>"}));
}

TEST_CASE("separate vocabularies: two files, filled up to one padding id") {
  const TemporaryDirectory scene;
  const Result made = train(scene.file("t"), {"--type", "word", "--separate", "--vocab-size", "45",
                                              "--source-language", "en_GB"});
  REQUIRE(made.code == kDone);
  CHECK(says(made, "40 pieces for en_GB and 45 for de, and <pad>"));
  CHECK(says(made, "the smaller vocabulary is padded to 45"));
  CHECK(says(made, "fewer pieces than the requested 45"));
  CHECK(says(made, "target_vocab.json"));
  const Json settings = Json::parse(bytes_of(scene.file("t/tokenizer_config.json")));
  CHECK(settings.at("separate_vocabs") == true);
  CHECK(settings.at("source_lang") == "en_GB");
  for (const char* name : {"t/vocab.json", "t/target_vocab.json"}) {
    const Json vocabulary = Json::parse(bytes_of(scene.file(name)));
    CHECK(vocabulary.size() == 46);
    CHECK(vocabulary.at("<pad>") == 45);
  }
  const std::string config = write_config(
      scene, ", \"share_encoder_decoder_embeddings\": false, \"tie_word_embeddings\": false");
  CHECK(run_program({.args = {"translate", "--config", config, "The group"}}).code == kDone);
}

TEST_CASE("unigram and BPE give the requested pieces, the same each time") {
  const TemporaryDirectory scene;
  for (const std::string type : {"unigram", "bpe"}) {
    const std::string out = scene.file(type);
    const Result made = train(out, {"--type", type, "--vocab-size", "70"});
    CHECK(made.code == kDone);
    CHECK(says(made, type + " tokenizer, 70 pieces and <pad>"));
    CHECK_FALSE(says(made, "fewer"));
    CHECK(Json::parse(bytes_of(out + "/vocab.json")).size() == 71);
    REQUIRE(train(out + "2", {"--type", type, "--vocab-size", "70"}).code == kDone);
    CHECK(bytes_of(out + "/source.spm") == bytes_of(out + "2/source.spm"));
  }
  CHECK(bytes_of(scene.file("unigram/source.spm")) != bytes_of(scene.file("bpe/source.spm")));
}

TEST_CASE("a config gives files, type and size; --set changes them") {
  const TemporaryDirectory scene;
  two_files(scene);
  const std::string config =
      scene.write("config.json",
                  "{\"tokenizer\": {\"type\": \"bpe\", \"vocab_size\": 25}, "
                  "\"data\": {\"train\": {\"source\": \"a.en\", \"target\": \"a.de\"}}}");
  const Result made = run_program({.args = {"tokenizer", config, "--out", scene.file("t")}});
  CHECK(made.code == kDone);
  CHECK(says(made, "bpe tokenizer, 25 pieces and <pad>"));
  const Result words =
      run_program({.args = {"tokenizer", config, "--out", scene.file("w"), "--set",
                            "tokenizer.type=word", "--set", "tokenizer.joint=false"}});
  CHECK(words.code == kDone);
  CHECK(says(words, "whole-word tokenizer, 6 pieces for en and 7 for de, and <pad>"));
}

TEST_CASE("sides may differ in length, and lines that are too long are counted") {
  const TemporaryDirectory scene;
  two_files(scene);
  scene.write("b.en", "one\ntwo\n" + std::string(5000, 'a') + "\nthree");
  const Result made =
      run_program({.args = {"tokenizer", "--source", scene.file("b.en"), "--target",
                            scene.file("a.de"), "--type", "word", "--out", scene.file("t")}});
  CHECK(made.code == kDone);
  CHECK(says(made, "10 pieces"));
  CHECK(says(made, "longer than 4192 bytes: 1"));
}

TEST_CASE("an empty directory is taken") {
  const TemporaryDirectory scene;
  fs::create_directory(scene.file("t"));
  CHECK(train(scene.file("t"), {"--type", "word"}).code == kDone);
  CHECK(fs::exists(scene.file("t/vocab.json")));
  CHECK(scene.entries() == 1);
}

TEST_CASE("a write that fails leaves nothing, not even the files before it") {
  const TemporaryDirectory scene;
  REQUIRE(train(scene.file("t"), {"--type", "word", "--separate"}).code == kDone);
  const rlim_t room = fs::file_size(scene.file("t/source.spm"));
  REQUIRE(fs::file_size(scene.file("t/target.spm")) > room);
  BadCase bad = {"no room for the second file",
                 {"tokenizer", "--source", kToyTexts + "train.en", "--target",
                  kToyTexts + "train.de", "--type", "word", "--separate", "--out", "{dir}/a/t"},
                 kSystem,
                 {"target.spm", "cannot write"}};
  bad.in_child = [room] {
    const rlimit limit = {room, room};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  check_bad(bad);
}

TEST_CASE("bad input: options of tokenizer") {
  check_all({
      with_files("no text named", {"--out", "{dir}/t"}, kUsage, {"--source FILE", "config"}),
      with_files("no target", {"--source", "{dir}/a.en", "--out", "{dir}/t"}, kUsage, {"--target"}),
      with_files("no --out", {"--source", "{dir}/a.en", "--target", "{dir}/a.de"}, kUsage,
                 {"--out"}),
      with_files("type unknown",
                 {"--source", "{dir}/a.en", "--target", "{dir}/a.de", "--out", "{dir}/t", "--type",
                  "wordpiece"},
                 kUsage, {"--type wordpiece", "unigram, bpe or word"}),
      with_files("size with a zero in front",
                 {"--source", "{dir}/a.en", "--target", "{dir}/a.de", "--out", "{dir}/t",
                  "--vocab-size", "0100"},
                 kUsage, {"--vocab-size 0100", "3 to 1048576"}),
      with_files("size of two",
                 {"--source", "{dir}/a.en", "--target", "{dir}/a.de", "--out", "{dir}/t",
                  "--vocab-size", "2"},
                 kUsage, {"--vocab-size 2", "3 to 1048576"}),
      with_files("size empty",
                 {"--source", "{dir}/a.en", "--target", "{dir}/a.de", "--out", "{dir}/t",
                  "--vocab-size", ""},
                 kUsage, {"--vocab-size", "whole number"}),
      with_files("language with a space",
                 {"--source", "{dir}/a.en", "--target", "{dir}/a.de", "--out", "{dir}/t",
                  "--source-language", "e n"},
                 kUsage, {"--source-language e n", "language code"}),
      with_files("--set without a config",
                 {"--source", "{dir}/a.en", "--target", "{dir}/a.de", "--out", "{dir}/t", "--set",
                  "tokenizer.type=bpe"},
                 kUsage, {"--set", "config"}),
      with_files("a config and a file", {"{demo}", "--source", "{dir}/a.en", "--out", "{dir}/t"},
                 kUsage, {"{demo}", "data.train.source"}),
      with_files("a config and a type", {"{demo}", "--type", "bpe", "--out", "{dir}/t"}, kUsage,
                 {"{demo}", "--set tokenizer"}),
  });
}

TEST_CASE("bad input: text and places of tokenizer") {
  const auto text = [](const std::string& name, const std::string& source,
                       const std::string& target, const std::vector<std::string>& more, int code,
                       const std::vector<std::string>& parts) {
    std::vector<std::string> args = {"--source", source, "--target", target, "--out", "{dir}/a/t"};
    args.insert(args.end(), more.begin(), more.end());
    return with_files(name, args, code, parts);
  };
  const std::string en = "{dir}/a.en";
  const std::string de = "{dir}/a.de";
  check_all({
      text("source missing", "{dir}/none", de, {}, kSystem, {"{dir}/none"}),
      text("target missing", en, "{dir}/none", {}, kSystem, {"{dir}/none"}),
      text("source a directory", "{dir}", de, {}, kSystem, {"{dir}"}),
      text("source empty", "{dir}/empty", de, {}, kInput, {"{dir}/empty: no text"}),
      text("target blank", en, "{dir}/blank", {}, kInput, {"{dir}/blank: no text"}),
      text("only a long line", "{dir}/long", de, {"--separate", "--type", "word"}, kInput,
           {"{dir}/long", "4192 bytes"}),
      text("unigram too small for the characters", en, de, {"--vocab-size", "9"}, kInput,
           {"{dir}/a.en and {dir}/a.de", "vocab_size 9 is too small", "characters", "or more"}),
      text("bpe too small for the characters", en, de,
           {"--vocab-size", "9", "--type", "bpe", "--separate"}, kInput,
           {"{dir}/a.en: vocab_size 9 is too small for a bpe tokenizer"}),
      with_files("into a directory that holds something",
                 {"--source", en, "--target", de, "--out", "{dir}"}, kSystem,
                 {"{dir}: ", "not an empty directory"}),
      with_files("over a file", {"--source", en, "--target", de, "--out", "{dir}/a.en"}, kSystem,
                 {"{dir}/a.en", "not an empty directory"}),
  });
}

TEST_CASE("bad input: characters that normalising removes") {
  check_bad({"control characters only",
             {"tokenizer", "--source", "{dir}/c", "--target", "{dir}/c", "--out", "{dir}/t"},
             kInput,
             {"{dir}/c", "no text"},
             [](const TemporaryDirectory& scene) { scene.write("c", "\x01\x02\n"); }});
}

TEST_CASE("bad input: configs of tokenizer") {
  const std::string files = "\"data\": {\"train\": {\"source\": \"a.en\", \"target\": \"a.de\"}}";
  check_all({
      with_config("names an existing tokenizer", "{\"tokenizer\": {\"model\": \"x\"}}", {}, kInput,
                  {"{dir}/config.json", "tokenizer.model", "{dir}/x", "tokenizer.type"}),
      with_config("names nothing", "{" + files + "}", {}, kInput, {"neither a model nor a type"}),
      with_config("no files", "{\"tokenizer\": {\"type\": \"bpe\"}}", {}, kInput, {"data.train"}),
      with_config("too small",
                  "{\"tokenizer\": {\"type\": \"bpe\", \"vocab_size\": 5}, " + files + "}", {},
                  kInput, {"{dir}/a.en", "vocab_size 5 is too small"}),
      with_config("unknown key", "{\"tokenizer\": {\"typ\": \"bpe\"}, " + files + "}", {}, kInput,
                  {"\"typ\"", "\"type\""}),
      with_config("malformed override", "{}", {"--set", "type=bpe"}, kUsage, {"section.key=value"}),
      {"config missing",
       {"tokenizer", "{dir}/no.json", "--out", "{dir}/t"},
       kSystem,
       {"{dir}/no.json"}},
  });
}

}  // namespace attn::test
