// Tests how the translations of a line's parts are put together.
#include "translate/line_parts.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace attn;

namespace {

Translation of(const std::string& text, std::size_t tokens, float score) {
  return {text, std::vector<int>(tokens, 1), score};
}

DecodeConfig n_best(int count, float length_penalty) {
  DecodeConfig decode;
  decode.num_beams = decode.num_return_sequences = count;
  decode.length_penalty = length_penalty;
  return decode;
}

}  // namespace

TEST_CASE("one part's translations are the line's, scores and all") {
  const auto joined = join_parts({{of("a", 3, -0.1F), of("b", 4, -0.3F)}}, {""}, n_best(2, 0.7F));
  REQUIRE(joined.size() == 2);
  CHECK(joined[0].text == "a");
  CHECK(joined[0].score == -0.1F);
  CHECK(joined[0].tokens == 3);
  CHECK(joined[1].text == "b");
  CHECK(joined[1].score == -0.3F);
  CHECK(joined[1].ranks == std::vector<std::size_t>{1});
}

TEST_CASE("parts are joined with their gaps, and scored as one hypothesis") {
  const auto joined = join_parts({{of("a", 3, -0.5F)}, {of("b", 5, -0.25F)}, {of("c", 2, -1.0F)}},
                                 {"", "  ", "\u00a0"}, n_best(1, 2.0F));
  REQUIRE(joined.size() == 1);
  CHECK(joined[0].text == "a  b\u00a0c");
  CHECK(joined[0].tokens == 10);
  // Sums are score · length²: −4.5, −6.25 and −4.
  CHECK(joined[0].score == doctest::Approx(-14.75 / 100));
}

TEST_CASE("the n best are the best ways to put parts together") {
  const auto joined =
      join_parts({{of("a", 2, -0.1F), of("A", 2, -0.9F)}, {of("b", 2, -0.2F), of("B", 2, -0.4F)}},
                 {"", " "}, n_best(3, 1.0F));
  REQUIRE(joined.size() == 3);
  CHECK(joined[0].text == "a b");
  CHECK(joined[1].text == "a B");
  CHECK(joined[1].ranks == std::vector<std::size_t>{0, 1});
  CHECK(joined[2].text == "A b");
  CHECK(joined[2].score == doctest::Approx((-1.8 - 0.4) / 4));
}

TEST_CASE("a part without translation leaves no second gap") {
  const auto joined = join_parts({{of("", 0, 0)}, {of("b", 2, -1.0F)}, {of("", 1, -1.0F)}},
                                 {"", " ", " "}, n_best(1, 1.0F));
  REQUIRE(joined.size() == 1);
  CHECK(joined[0].text == "b");
  CHECK(joined[0].tokens == 3);
}
