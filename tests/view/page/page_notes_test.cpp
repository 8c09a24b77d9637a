// What the page is told besides a record: words by where they end, and the heads that align best.
#include "view/page/page_notes.h"

#include <doctest/doctest.h>

namespace attn {
namespace {

TEST_CASE("page notes: words of every sequence, best heads, branches of a search") {
  const char* const record = R"({"encoder_self":[[[[1]]]],"vectors":{"cross":{"query":"x"}},
    "source":{"text":"Go home.","tokens":["▁Go","▁ho","me",".","</s>"]},
    "hypotheses":[{"text":"Geh heim","tokens":["▁Geh","▁heim","</s>"],"cross":[[[[1]]]],
      "decoder_input":{"tokens":["<start>","▁Geh","▁heim"]},
      "report":{"cross":[[{"alignment":0.5,"read_alignment":0.9},{"alignment":0.3,"read_alignment":null}]]}}],
    "search":{"nodes":[{"parent":-1,"token":"▁G","cross":[[1]]},{"parent":0,"token":"eh"},
      {"parent":0,"token":"▁ab"}]}})";
  CHECK(page_notes(record) ==
        R"({"source":[1,3,4,5],"hypotheses":[{"tokens":[1,2,3],"input":[1,2,3],"best":[[0,1]]}],)"
        R"("nodes":[[1],[2],[1,2]]})");
}

TEST_CASE("page notes: without a mark of words every piece is one") {
  CHECK(page_notes(R"({"source":{"text":"ab","tokens":["a","b"]},"hypotheses":[]})") ==
        R"({"source":[1,2],"hypotheses":[]})");
}

TEST_CASE("page notes: what is missing or of another kind has none") {
  const std::string nothing = R"({"source":[],"hypotheses":[]})";
  for (const char* record : {"", "{", "[]", "7", "{}", R"({"source":7,"hypotheses":null})"}) {
    CAPTURE(record);
    CHECK(page_notes(record) == nothing);
  }
  CHECK(page_notes(R"({"hypotheses":[{"report":{"cross":[[{}],[]]}}]})") ==
        R"({"source":[],"hypotheses":[{"tokens":[],"input":[],"best":[]}]})");
}

TEST_CASE("page notes: of all sentences the tenth that aligns best, at least one") {
  std::string heads = R"({"format":"attn-demo.heads","cross":[[)";
  for (int head = 0; head < 11; ++head) {
    heads += (head > 0 ? "," : "") + std::string(R"({"alignment":0.)") + std::to_string(10 + head) +
             R"(,"read_alignment":0.1})";
  }
  CHECK(page_best_heads(heads + "]]}") == "[[0,10],[0,9]]");
  CHECK(page_best_heads("{}") == "[]");
}

}  // namespace
}  // namespace attn
