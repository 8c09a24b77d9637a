#include "text/sentencepiece/segmentation.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/strings/utf8.h"
#include "model_of_pieces.h"

namespace attn {
namespace {

using Pieces = std::vector<std::string>;

/// Returns a model of <unk> and these pieces, whose texts must outlive it.
SentencePieceModel model_of(std::vector<SentencePieceEntry> pieces) {
  pieces.insert(pieces.begin(), {"<unk>", 0, PieceType::unknown});
  return test::model_of(std::move(pieces));
}

TEST_CASE("the likeliest cut wins, not the longest piece") {
  const SentencePieceUnigram unigram(
      model_of({{"a", -1}, {"b", -1}, {"c", -9}, {"ab", -3}, {"bc", -2}}));
  CHECK(unigram.encode("") == Pieces{});
  CHECK(unigram.encode("ab") == Pieces{"a", "b"});
  CHECK(unigram.encode("abc") == Pieces{"a", "bc"});
  CHECK(unigram.encode("aabcab") == Pieces{"a", "a", "bc", "a", "b"});
}

TEST_CASE("what no piece covers is one piece a run") {
  const SentencePieceUnigram unigram(model_of({{"a", -1}, {"b", -2}, {"äx", -1}}));
  CHECK(unigram.encode("a東京b😀") == Pieces{"a", "東京", "b", "😀"});
  CHECK(unigram.encode("äx") == Pieces{"äx"});
  CHECK(unigram.encode("äa") == Pieces{"ä", "a"});
}

TEST_CASE("with byte pieces an unknown character becomes its bytes") {
  SentencePieceModel model = model_of({{"a", -1}});
  model.byte_fallback = true;
  CHECK(SentencePieceUnigram(std::move(model)).encode("aäz") ==
        Pieces{"a", "<0xC3>", "<0xA4>", "<0x7A>"});
}

TEST_CASE("user-defined pieces always win, unused and special ones never") {
  const SentencePieceUnigram unigram(model_of({{"a", -1},
                                               {"b", -1},
                                               {"c", -1},
                                               {"ab", -50, PieceType::user_defined},
                                               {"bc", 0, PieceType::unused},
                                               {"ca", 0, PieceType::control},
                                               {"abc", -0.5F}}));
  CHECK(unigram.encode("bcb") == Pieces{"b", "c", "b"});
  CHECK(unigram.encode("caa") == Pieces{"c", "a", "a"});
  CHECK(unigram.encode("abb") == Pieces{"ab", "b"});
}

TEST_CASE("of equally likely cuts the one whose last piece begins first wins") {
  const SentencePieceUnigram unigram(model_of({{"0", -2}, {"00", -3}}));
  CHECK(unigram.encode("000") == Pieces{"0", "00"});
}

}  // namespace
}  // namespace attn
