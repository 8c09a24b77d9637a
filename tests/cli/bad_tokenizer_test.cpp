// Tests damaged tokenizer files and decoding defaults of a model directory.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "bad_input.h"

namespace attn::test {
namespace {

using Change = std::function<void(std::string&)>;

/// Returns the good model with one file changed or created, with which translate is run.
BadCase changed(const std::string& name, const std::string& file,
                const std::vector<std::string>& parts, const Change& change) {
  std::vector<std::string> all = parts;
  all.push_back("{dir}/m/" + file);
  return {name,
          {"translate", "--model", "{dir}/m", "The group went home"},
          kInput,
          all,
          [file, change](const TemporaryDirectory& scene) {
            ModelFiles model = ModelFiles::good();
            change(model.files[file]);
            model.write(scene, "m");
          }};
}

Change to(const std::string& bytes) {
  return [bytes](std::string& text) { text = bytes; };
}

/// Returns a case with a change in vocab.json.
BadCase vocabulary(const std::string& name, const std::vector<std::string>& parts,
                   const std::function<void(Json&)>& change) {
  return changed(name, "vocab.json", parts, [change](std::string& text) {
    Json document = Json::parse(text);
    change(document);
    text = document.dump();
  });
}

BadCase decode_key(const std::string& name, const std::string& key, const Json& value,
                   const std::vector<std::string>& parts) {
  return changed(name, "generation_config.json", parts, [key, value](std::string& text) {
    Json document = Json::parse(text);
    document[key] = value;
    text = document.dump();
  });
}

}  // namespace

TEST_CASE("bad input: SentencePiece files") {
  check_all({
      changed("source.spm empty", "source.spm", {}, to("")),
      changed("source.spm a text", "source.spm", {}, to("this is not a model\n")),
      changed("source.spm zeros", "source.spm", {}, to(std::string(4096, '\0'))),
      changed("source.spm all bits set", "source.spm", {}, to(std::string(4096, '\xff'))),
      changed("source.spm a piece beyond the file", "source.spm", {},
              to("\x0a\xff\xff\xff\xff\x0f"
                 "abc")),
      changed("source.spm without its last byte", "source.spm", {},
              [](std::string& bytes) { bytes.pop_back(); }),
      changed("source.spm cut in half", "source.spm", {},
              [](std::string& bytes) { bytes.resize(bytes.size() / 2 + 1); }),
      changed("source.spm with garbage behind", "source.spm", {},
              [](std::string& bytes) { bytes += "garbage \xff\xff\xff"; }),
      changed("source.spm a JSON file", "source.spm", {}, to("{\"a\": 1}")),
      changed("target.spm empty", "target.spm", {}, to("")),
      changed("target.spm cut in half", "target.spm", {},
              [](std::string& bytes) { bytes.resize(bytes.size() / 2 + 1); }),
      changed("target.spm garbage", "target.spm", {}, to("\x1b[2J garbage")),
      {"checksum that does not fit",
       {"translate", "--model", "{dir}/m", "x"},
       kInput,
       {"{dir}/m/source.spm", "SHA-256", "000000000000"},
       [](const TemporaryDirectory& scene) {
         ModelFiles model = ModelFiles::good();
         model.files["SHA256SUMS"] = std::string(64, '0') + "  source.spm\n";
         model.write(scene, "m");
       }},
      changed("checksums damaged", "SHA256SUMS", {"line 1", "64 hexadecimal"}, to("abc\n")),
  });
}

TEST_CASE("bad input: vocab.json") {
  check_all({
      changed("vocab.json empty", "vocab.json", {"no text"}, to("")),
      changed("vocab.json a list", "vocab.json", {"object"}, to("[\"</s>\"]")),
      changed("vocab.json a string", "vocab.json", {"object"}, to("\"</s>\"")),
      changed("vocab.json cut short", "vocab.json", {":"},
              [](std::string& text) { text.resize(text.size() / 2); }),
      changed("vocab.json with nothing in it", "vocab.json", {"no pieces"}, to("{}")),
      changed("vocab.json with a piece twice", "vocab.json", {"\"</s>\" occurs twice"},
              [](std::string& text) { text = "{\"</s>\": 0, \"</s>\": 1, \"<unk>\": 2}"; }),
      changed("vocab.json with a mark", "vocab.json", {"byte-order mark"},
              [](std::string& text) { text = "\xef\xbb\xbf" + text; }),
      changed("vocab.json with invalid UTF-8", "vocab.json", {":"},
              [](std::string& text) { text.insert(text.find("</s>"), 1, '\xff'); }),
      vocabulary("id twice", {"id 0 belongs to both"}, [](Json& v) { v["<unk>"] = 0; }),
      vocabulary("id beyond the end", {"\"<pad>\"", "400", "132"},
                 [](Json& v) { v["<pad>"] = 400; }),
      vocabulary("id beyond 32 bits", {"\"<pad>\"", "0 to 132"},
                 [](Json& v) { v["<pad>"] = std::uint64_t{1} << 40; }),
      vocabulary("id negative", {"\"<pad>\"", "-1"}, [](Json& v) { v["<pad>"] = -1; }),
      vocabulary("id fractional", {"\"<pad>\"", "1.5"}, [](Json& v) { v["<pad>"] = 1.5; }),
      vocabulary("id a string", {"\"<pad>\"", "integer"}, [](Json& v) { v["<pad>"] = "132"; }),
      vocabulary("id an object", {"\"<pad>\"", "integer"},
                 [](Json& v) {
                   v["<pad>"] = {{"a", 1}};
                 }),
      vocabulary("without <unk>", {"<unk>"},
                 [](Json& v) {
                   const int id = v.at("<unk>");
                   v.erase("<unk>");
                   v["unknown"] = id;
                 }),
      vocabulary("without </s>", {"</s>"},
                 [](Json& v) {
                   const int id = v.at("</s>");
                   v.erase("</s>");
                   v["end"] = id;
                 }),
      vocabulary("without <pad>", {"<pad>"},
                 [](Json& v) {
                   const int id = v.at("<pad>");
                   v.erase("<pad>");
                   v["padding"] = id;
                 }),
      {"more pieces than the embedding",
       {"translate", "--model", "{dir}/m", "x"},
       kInput,
       {"vocabulary holds 134 tokens", "133"},
       [](const TemporaryDirectory& scene) {
         ModelFiles model = ModelFiles::good();
         model.set("vocab.json", "one more", 133);
         model.write(scene, "m");
       }},
  });
}

TEST_CASE("bad input: tokenizer_config.json and generation_config.json") {
  const std::string tokenizer = "tokenizer_config.json";
  const std::string decode = "generation_config.json";
  check_all({
      changed("tokenizer_config a list", tokenizer, {"object"}, to("[]")),
      changed("tokenizer_config cut short", tokenizer, {":1:"}, to("{\"eos_token\":")),
      changed("end symbol a number", tokenizer, {"eos_token is 3"}, to("{\"eos_token\": 3}")),
      changed("end symbol empty", tokenizer, {"eos_token"}, to("{\"eos_token\": \"\"}")),
      changed("separate_vocabs a string", tokenizer, {"separate_vocabs", "true or false"},
              to("{\"separate_vocabs\": \"no\"}")),
      changed("generation_config a list", decode, {"JSON object"}, to("[]")),
      changed("generation_config cut short", decode, {":1:"}, to("{\"num_beams\"")),
      decode_key("beams a string", "num_beams", "4", {"num_beams is \"4\"", "integer"}),
      decode_key("beams fractional", "num_beams", 1.5, {"num_beams is 1.5", "integer"}),
      decode_key("max_length a list", "max_length", {5}, {"max_length is [5]", "integer"}),
      decode_key("length penalty a string", "length_penalty", "long", {"length_penalty", "number"}),
      decode_key("length penalty beyond a float", "length_penalty", 1e300, {"length_penalty"}),
      decode_key("early_stopping a number", "early_stopping", 1, {"early_stopping", "never"}),
      decode_key("bad words not lists", "bad_words_ids", {5}, {"bad_words_ids", "list of lists"}),
      decode_key("bad words negative", "bad_words_ids", {{-5}}, {"bad_words_ids"}),
      decode_key("forced end a string", "forced_eos_token_id", "</s>", {"forced_eos_token_id"}),
      decode_key("no new tokens", "max_new_tokens", 0, {"max_new_tokens is 0", "1 or more"}),
      decode_key("end symbol a string", "eos_token_id", "</s>",
                 {"eos_token_id is \"</s>\"; expected a token id, or a list of them"}),
      decode_key("end symbols outside", "eos_token_id", {0, 133},
                 {"eos_token_id 133 is outside the vocabulary of 133"}),
      decode_key("no start", "decoder_start_token_id", nullptr,
                 {"decoder_start_token_id is missing; expected one token id"}),
      {"generation_config a directory",
       {"translate", "--model", "{dir}/m", "x"},
       kSystem,
       {"{dir}/m/generation_config.json"},
       [](const TemporaryDirectory& scene) {
         ModelFiles model = ModelFiles::good();
         model.files.erase("generation_config.json");
         model.write(scene, "m");
         std::filesystem::create_directory(scene.file("m/generation_config.json"));
       }},
      {"no beams",
       {"translate", "--model", "{dir}/m", "x"},
       kInput,
       {"{dir}/m", "num_beams 0"},
       [](const TemporaryDirectory& scene) {
         ModelFiles model = ModelFiles::good();
         model.set("generation_config.json", "num_beams", 0);
         model.write(scene, "m");
       }},
      {"no room for a token",
       {"translate", "--model", "{dir}/m", "x"},
       kInput,
       {"{dir}/m", "max_length 1"},
       [](const TemporaryDirectory& scene) {
         ModelFiles model = ModelFiles::good();
         model.set("generation_config.json", "max_length", 1);
         model.write(scene, "m");
       }},
  });
}

}  // namespace attn::test
