// Tests added tokens of the older files: <NAME> has its id, or the directory is refused.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/json.h"
#include "check_error.h"
#include "temporary_directory.h"
#include "text/tokenizer.h"

namespace attn {
namespace {

using namespace test;

/// Copies a golden tokenizer.
void copy_golden(const std::string& name, const TemporaryDirectory& scene) {
  for (const auto& file : std::filesystem::directory_iterator(std::string(ATTN_SOURCE_DIR) +
                                                              "/tests/golden/tokenizer/" + name)) {
    std::filesystem::copy(file.path(), scene.file(file.path().filename()));
  }
}

void set_key(const TemporaryDirectory& scene, const std::string& key, const Json& value) {
  Json settings = read_json_file(scene.file("tokenizer_config.json"));
  settings[key] = value;
  scene.write("tokenizer_config.json", settings.dump());
}

TEST_CASE("added tokens of both older files have their ids, in every kind of directory") {
  for (const char* name : {"joint", "opus", "bytes", "pegasus"}) {
    CAPTURE(name);
    for (const bool decoder : {true, false}) {
      const TemporaryDirectory scene;
      copy_golden(name, scene);
      const int size = Tokenizer(scene.path()).target_vocab_size();
      if (decoder) {
        set_key(scene, "added_tokens_decoder",
                {{std::to_string(size), {{"content", "<NAME>"}, {"lstrip", true}}}});
      } else {
        scene.write("added_tokens.json", Json{{"<NAME>", size}}.dump());
      }
      const Tokenizer tokenizer(scene.path());
      CHECK(tokenizer.target_vocab_size() == size + 1);
      CHECK(tokenizer.source_ids_in_use() == size + 1);
      CHECK(tokenizer.target_token(size) == "<NAME>");
      const std::vector<int> ids = tokenizer.encode_source("Hello  <NAME>x").ids;
      CHECK(std::ranges::count(ids, size) == 1);
      std::vector<int> around = tokenizer.encode_source("Hello").ids;
      around.pop_back();
      if (decoder) CHECK(std::vector<int>(ids.begin(), ids.begin() + std::ssize(around)) == around);
      CHECK(tokenizer.decode_target({size}) == "<NAME>");
    }
  }
}

TEST_CASE("the model's own marks stay text, in the list of added tokens too") {
  for (const char* name : {"joint", "bytes"}) {
    const TemporaryDirectory scene;
    copy_golden(name, scene);
    const Tokenizer before(scene.path());
    const SpecialTokens special = before.special_tokens();
    set_key(scene, "added_tokens_decoder",
            {{std::to_string(special.eos), {{"content", "</s>"}, {"special", true}}},
             {std::to_string(special.pad), {{"content", "<pad>"}, {"special", true}}}});
    const Tokenizer after(scene.path());
    for (const char* text : {"The </s> group", "<pad>", "home"}) {
      CHECK(after.encode_source(text).ids == before.encode_source(text).ids);
    }
  }
}

TEST_CASE("a special added token is left out of a decoded text") {
  const TemporaryDirectory scene;
  copy_golden("joint", scene);
  const int size = Tokenizer(scene.path()).target_vocab_size();
  set_key(scene, "added_tokens_decoder",
          {{std::to_string(size), {{"content", "<keep>"}, {"special", true}}}});
  const Tokenizer tokenizer(scene.path());
  CHECK(tokenizer.encode_source("<keep>").ids == std::vector<int>{size, 0});
  CHECK(tokenizer.decode_target({size}).empty());
}

TEST_CASE("added tokens without an id of their own") {
  for (const char* name : {"joint", "bytes", "pegasus"}) {
    CAPTURE(name);
    const TemporaryDirectory scene;
    copy_golden(name, scene);
    const int size = Tokenizer(scene.path()).target_vocab_size();
    const auto refused = [&](const Json& decoder, const std::string& message) {
      set_key(scene, "added_tokens_decoder", decoder);
      check_error([&] { Tokenizer tokenizer(scene.path()); }, ExitCode::input, message);
    };
    refused({{"7", {{"content", "<NAME>"}}}}, "\"<NAME>\" has id 7, which is the piece");
    refused({{std::to_string(size + 1), {{"content", "<NAME>"}}}},
            "and id " + std::to_string(size) + " has no piece; expected each id once");
    refused({{"x", {{"content", "<NAME>"}}}}, "has the key \"x\"; expected an id");
    refused({{"-1", {{"content", "<NAME>"}}}}, "has the key \"-1\"; expected an id");
    refused({{"1234567890", {{"content", "<NAME>"}}}}, "expected an id");
    refused({{std::to_string(size), {{"content", ""}}}}, "an added token is");
    refused({{std::to_string(size), "<NAME>"}}, "expected an object with its content");
    refused(Json::array(), "expected an object of ids and tokens");
    refused({{std::to_string(size), {{"content", "<NAME>"}, {"rstrip", "no"}}}}, "rstrip is");
    set_key(scene, "added_tokens_decoder", nullptr);
  }
  const TemporaryDirectory scene;
  copy_golden("joint", scene);
  set_key(scene, "added_tokens_decoder", {{"501", {{"content", "<NAME>"}, {"single_word", true}}}});
  check_error([&] { Tokenizer tokenizer(scene.path()); }, ExitCode::input,
              "\"<NAME>\" is a single_word, which this tokenizer does not know; expected false");
}

TEST_CASE("separate vocabularies take no further tokens") {
  const TemporaryDirectory scene;
  copy_golden("separate", scene);
  const int size = Tokenizer(scene.path()).source_vocab_size();
  scene.write("added_tokens.json", Json{{"<NAME>", size}}.dump());
  check_error(
      [&] { Tokenizer tokenizer(scene.path()); }, ExitCode::input,
      "\"<NAME>\" is not in vocab.json; expected it there, because the vocabularies are separate");
}

TEST_CASE("all files of a tokenizer are copied") {
  const TemporaryDirectory from;
  const TemporaryDirectory to;
  copy_golden("joint", from);
  from.write("special_tokens_map.json", R"({"eos_token": "▁The"})");
  const int size = Tokenizer(from.path()).target_vocab_size();
  from.write("added_tokens.json", Json{{"<NAME>", size}}.dump());
  copy_tokenizer(from.path(), to.path());
  const Tokenizer tokenizer(to.path());
  CHECK(tokenizer.special_tokens().eos == Tokenizer(from.path()).special_tokens().eos);
  CHECK(tokenizer.target_token(tokenizer.special_tokens().eos) == "▁The");
  CHECK(tokenizer.target_vocab_size() == Tokenizer(from.path()).target_vocab_size());
}

}  // namespace
}  // namespace attn
