#include "text/tokenizer.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/strings/sha256.h"
#include "check_error.h"
#include "test_files.h"
#include "text/tokenizer_trainer.h"

namespace attn {
namespace {

using test::check_error;
using test::DirectoryCopy;
using test::kDemo;
using test::kGolden;

void refuse_tokenizer(const std::string& directory, const std::string& part,
                      ExitCode code = ExitCode::input) {
  CAPTURE(part);
  check_error([&] { Tokenizer tokenizer(directory); }, code, part);
}

TEST_CASE("the demo's tokenizer cuts whole words") {
  const Tokenizer tokenizer(kDemo);
  CHECK(tokenizer.source_vocab_size() == 133);
  CHECK(tokenizer.target_vocab_size() == 133);
  CHECK_FALSE(tokenizer.separate_vocabularies());
  CHECK(tokenizer.special_tokens().eos == 0);
  CHECK(tokenizer.special_tokens().unk == 1);
  CHECK(tokenizer.special_tokens().pad == 132);
  const EncodedText group = tokenizer.encode_source("The group went home");
  CHECK(group.pieces == std::vector<std::string>{"▁The", "▁group", "▁went", "▁home", "</s>"});
  CHECK(group.unknown == 0);
  for (std::size_t i = 0; i < group.ids.size(); ++i) {
    CHECK(tokenizer.source_token(group.ids[i]) == group.pieces[i]);
  }
  const std::string german = "Die Gruppe ging nach Hause";
  const EncodedText target = tokenizer.encode_target(german);
  CHECK(target.unknown == 0);
  CHECK(target.ids.size() == 6);
  CHECK(tokenizer.decode_target(target.ids) == german);
}

TEST_CASE("typed special pieces are ordinary text, a leading language mark is one piece") {
  const Tokenizer tokenizer(kDemo);
  const EncodedText typed = tokenizer.encode_source("The </s> went <pad>");
  CHECK(typed.ids == std::vector<int>{tokenizer.encode_source("The").ids[0], 1,
                                      tokenizer.encode_source("went").ids[0], 1, 0});
  CHECK(typed.unknown == 2);
  const EncodedText marked = tokenizer.encode_source(">>deu<< He went");
  CHECK(marked.pieces == std::vector<std::string>{">>deu<<", "▁He", "▁went", "</s>"});
  CHECK(marked.unknown == 1);
}

TEST_CASE("a run of unknown characters that spells a special piece gets no special id") {
  TokenizerTraining training;
  training.vocab_size = 8;
  training.source_lines.assign(20, "ab ba aab bba");
  const test::TemporaryDirectory made;
  train_tokenizer(training, made.path());
  const Tokenizer tokenizer(made.path());
  for (const std::string text : {"</s>", "<unk>"}) {
    const EncodedText encoded = tokenizer.encode_source("a " + text);
    CAPTURE(text);
    REQUIRE(encoded.pieces.size() >= 3);
    const std::size_t last = encoded.pieces.size() - 2;
    CHECK(encoded.pieces[last] == text);
    CHECK(encoded.ids[last] == 1);
    CHECK(encoded.unknown == 1);
  }
}

TEST_CASE("ids outside the vocabulary are refused, special ones left out") {
  const Tokenizer tokenizer(kDemo);
  check_error([&] { tokenizer.decode_target({133}); }, ExitCode::input,
              "target id 133: outside the vocabulary; expected 0 to 132");
  check_error([&] { tokenizer.source_token(-1); }, ExitCode::input, "source id -1");
  check_error([&] { tokenizer.target_token(1 << 30); }, ExitCode::input, "target id 1073741824");
  CHECK(tokenizer.decode_target({132, 1, 0}).empty());
  CHECK(tokenizer.decode_target({}).empty());
}

TEST_CASE("each missing file is named") {
  refuse_tokenizer("/nonexistent/model", "/nonexistent/model: no such directory", ExitCode::system);
  for (const std::string name : {"source.spm", "target.spm", "vocab.json", "target_vocab.json"}) {
    const DirectoryCopy copy(kGolden + "separate");
    copy.remove(name);
    refuse_tokenizer(copy.path(), name + ": no such file");
  }
  const DirectoryCopy copy(kDemo);
  copy.remove("tokenizer_config.json");  // MarianTokenizer has defaults for all its keys
  CHECK(Tokenizer(copy.path()).source_vocab_size() == 133);
}

TEST_CASE("bad settings are refused") {
  const auto with = [](const std::string& settings, const std::string& part) {
    const DirectoryCopy copy(kDemo);
    copy.write("tokenizer_config.json", settings);
    refuse_tokenizer(copy.path(), part);
  };
  with("[]", "tokenizer_config.json: expected a JSON object");
  with("{", "tokenizer_config.json");
  with("{\"eos_token\": 3}", "tokenizer_config.json: eos_token is 3; expected a piece");
  with("{\"eos_token\": \"\"}", "eos_token is \"\"");
  with("{\"pad_token\": {\"content\": 1}}", "pad_token is {\"content\":1}");
  with("{\"eos_token\": \"<end>\"}", "vocab.json: the special piece \"<end>\" is missing");
  with("{\"unk_token\": \"<what>\"}", "vocab.json: the special piece \"<what>\" is missing");
  with("{\"pad_token\": \"<fill>\"}", "vocab.json: the special piece \"<fill>\" is missing");
  with("{\"separate_vocabs\": 1}", "separate_vocabs is 1; expected true or false");
  with("{\"separate_vocabs\": true}", "target_vocab.json: no such file");
  with("{\"additional_special_tokens\": \"x\"}", "expected a list of pieces");
}

TEST_CASE("special pieces come from tokenizer_config.json or special_tokens_map.json") {
  const DirectoryCopy copy(kDemo);
  copy.write("tokenizer_config.json", R"({"eos_token": {"content": "▁The"}, "pad_token": "▁Die",
                                        "additional_special_tokens": ["▁home"]})");
  const Tokenizer tokenizer(copy.path());
  CHECK(tokenizer.target_token(tokenizer.special_tokens().eos) == "▁The");
  CHECK(tokenizer.target_token(tokenizer.special_tokens().pad) == "▁Die");
  CHECK(tokenizer.decode_target(Tokenizer(kDemo).encode_source("He went home The Die").ids) ==
        "He went");  // without "</s>" too, which SentencePiece itself never shows
  copy.write("tokenizer_config.json", "{}");
  copy.write("special_tokens_map.json", R"({"eos_token": "▁went"})");
  const Tokenizer older(copy.path());
  CHECK(older.target_token(older.special_tokens().eos) == "▁went");
}

TEST_CASE("separate vocabularies share the end symbol's id") {
  const DirectoryCopy copy(kGolden + "separate");
  CHECK(Tokenizer(copy.path()).separate_vocabularies());
  copy.write("target_vocab.json", R"({"<unk>": 0, "</s>": 1, "<pad>": 2})");
  refuse_tokenizer(copy.path(), "target_vocab.json: \"</s>\" has id 1, but 0 in vocab.json");
}

TEST_CASE("checksums are verified where they are present") {
  const DirectoryCopy copy(kGolden + "opus");
  const std::string source = sha256_hex(read_file(copy.file("source.spm")));
  const std::string target = sha256_hex(read_file(copy.file("target.spm")));
  copy.write("SHA256SUMS", source + "  source.spm\n" + target + " *./target.spm\r\n\n" +
                               std::string(64, '0') + "  model.safetensors\n");
  CHECK_NOTHROW(Tokenizer(copy.path()));
  copy.write("SHA256SUMS", source + "  source.spm\n" + source + "  target.spm\n");
  refuse_tokenizer(copy.path(), "target.spm: its SHA-256 is " + target.substr(0, 12));
  copy.write("SHA256SUMS", target + "  source.spm\n");
  refuse_tokenizer(copy.path(), "source.spm: its SHA-256 is " + source.substr(0, 12));
  copy.write("SHA256SUMS", source + "  other\n" + source + " source.spm\n");
  refuse_tokenizer(copy.path(), "SHA256SUMS: line 2: expected 64 hexadecimal digits");
}

/// Loads a directory and uses it; returns true if it loaded. Any error but InputError fails the
/// test.
bool loads(const std::string& directory) {
  try {
    const Tokenizer tokenizer(directory);
    for (const char* text : {"The group went home", "½ ﬁ ẛ̣ 😀 x</s>", ""}) {
      tokenizer.decode_target(tokenizer.encode_source(text).ids);
      tokenizer.decode_target(tokenizer.encode_target(text).ids);
    }
    return true;
  } catch (const Error& error) {
    if (error.code() != ExitCode::input) FAIL(error.what());
    return false;
  }
}

/// Damages source.spm in many ways, at positions from `begin` to `end`, the same in every run.
void damage(const std::string& original, std::size_t begin, std::size_t end, int count) {
  const DirectoryCopy copy(original);
  const std::string sound = read_file(copy.file("source.spm"));
  end = std::min(end, sound.size());
  std::mt19937 random(20240607);
  int refused = 0;
  for (int i = 0; i < count; ++i) {
    std::string bytes = sound;
    const std::size_t at = begin + random() % (end - begin);
    if (i % 3 == 0) bytes.resize(at);
    if (i % 3 == 1) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    if (i % 3 == 2) bytes[at] = static_cast<char>(random());
    copy.write("source.spm", bytes);
    refused += loads(copy.path()) ? 0 : 1;
  }
  CHECK(refused > count / 4);
}

TEST_CASE("a damaged model is refused or works, and never crashes the library") {
  damage(kDemo, 0, SIZE_MAX, 1500);
  damage(kGolden + "separate", 0, SIZE_MAX, 600);
  damage(kGolden + "joint", 0, SIZE_MAX, 300);
  // The library crashes if the head of the table of normalization rules is damaged.
  const std::string joint = read_file(kGolden + "joint/source.spm");
  const std::size_t rules = joint.find("nmt_nfkc\x12");
  REQUIRE(rules != std::string::npos);
  damage(kGolden + "joint", rules, rules + 600, 600);
}

}  // namespace
}  // namespace attn
