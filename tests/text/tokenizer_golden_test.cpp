// Tests tokenizers against MarianTokenizer, BartTokenizer and PegasusTokenizer on the same texts
// (tests/golden/make_tokenizer_goldens.py).
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "text/tokenizer.h"

namespace attn {
namespace {

const std::string kGoldens = std::string(ATTN_SOURCE_DIR) + "/tests/golden/tokenizer/";

TEST_CASE("ids and texts equal those of transformers' tokenizers") {
  const Json goldens = read_json_file(kGoldens + "goldens.json");
  REQUIRE(goldens.size() == 6);
  for (const Json& golden : goldens) {
    const std::string directory = golden["directory"];
    CAPTURE(directory);
    const Tokenizer tokenizer(kGoldens + directory);
    const SpecialTokens special = tokenizer.special_tokens();
    CHECK(golden["special"].get<std::vector<int>>() ==
          std::vector<int>{special.eos, special.unk, special.pad});
    REQUIRE(golden["texts"].size() >= 40);
    for (const Json& one : golden["texts"]) {
      const std::string text = one["text"];
      CAPTURE(text);
      const EncodedText source = tokenizer.encode_source(text);
      CHECK(source.ids == one["source"].get<std::vector<int>>());
      CHECK(source.pieces.size() == source.ids.size());
      const EncodedText target = tokenizer.encode_target(text);
      CHECK(target.ids == one["target"].get<std::vector<int>>());
      CHECK(tokenizer.decode_target(target.ids) == one["decoded"].get<std::string>());
    }
    for (const Json& one : golden["decodes"]) {
      CHECK(tokenizer.decode_target(one["ids"].get<std::vector<int>>()) ==
            one["text"].get<std::string>());
    }
  }
}

}  // namespace
}  // namespace attn
