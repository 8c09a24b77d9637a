// A record as the page holds it: words by where they end, the heads that align best, and what is
// left out.
#include "view/page/page_record.h"

#include <doctest/doctest.h>

#include "base/json.h"

namespace attn {
namespace {

constexpr PageDetail kEverything{.vectors = true, .search = true};

Json page_json(const char* line, PageDetail detail = kEverything) {
  return Json::parse(page_record(line, detail));
}

const char* const kRecord = R"({"encoder_self":[[[[1]]]],"vectors":{"cross":{"query":"x"}},
    "more":[{"x":0.1}],
    "source":{"text":"Go home.","tokens":["▁Go","▁ho","me",".","</s>"]},
    "hypotheses":[{"text":"Geh heim","tokens":["▁Geh","▁heim","</s>"],"cross":[[[[1]]]],
      "decoder_input":{"tokens":["<start>","▁Geh","▁heim"]},"vectors":{},
      "alignment":{"from":"average","links":[],"source":[{"text":"Go","index":0}],"target":[],"weights":[]},
      "report":{"cross":[[{"alignment":0.5,"read_alignment":0.9},{"alignment":0.3,"read_alignment":null}]]}}],
    "search":{"nodes":[{"parent":-1,"token":"▁G","cross":[[[1]]]},{"parent":0,"token":"eh"},
      {"parent":0,"token":"▁ab"}]}})";

TEST_CASE("page record: words of every sequence, best heads, branches of a search") {
  const Json record = page_json(kRecord);
  CHECK(record["source"]["ends"].dump() == "[1,3,4,5]");
  const Json& hypothesis = record["hypotheses"][0];
  CHECK(hypothesis["ends"].dump() == "[1,2,3]");
  CHECK(hypothesis["decoder_input"]["ends"].dump() == "[1,2,3]");
  CHECK(hypothesis["best"].dump() == "[[0,1]]");
  CHECK(hypothesis["alignment"].dump() ==
        R"({"from":"average","links":[],"source":[{"text":"Go","index":0}],"target":[]})");
  const Json& nodes = record["search"]["nodes"];
  CHECK(nodes[0]["ends"].dump() == "[1]");
  CHECK(nodes[1]["ends"].dump() == "[2]");
  CHECK(nodes[2]["ends"].dump() == "[1,2]");
  for (const Json* maps : {&record["encoder_self"], &hypothesis["cross"], &nodes[0]["cross"]}) {
    CHECK(maps->is_string());
  }
  CHECK(record["more"].dump() == R"([{"x":0.1}])");  // what is not known passes
}

TEST_CASE("page record: vectors and searches are there where they are wanted") {
  for (const bool vectors : {false, true}) {
    for (const bool search : {false, true}) {
      const Json record = page_json(kRecord, {vectors, search});
      CHECK(record.contains("vectors") == vectors);
      CHECK(record["hypotheses"][0].contains("vectors") == vectors);
      CHECK(record.contains("search") == search);
    }
  }
}

TEST_CASE("page record: without a mark of words every piece is one") {
  const Json record = page_json(R"({"source":{"text":"ab","tokens":["a","b"]},"hypotheses":[{}]})");
  CHECK(record["source"]["ends"].dump() == "[1,2]");
  CHECK(record["hypotheses"][0]["ends"].dump() == "[]");
}

TEST_CASE("page record: figures that fit no shape have no best head") {
  const Json record = page_json(R"({"hypotheses":[{"report":{"cross":[[{}],[]]}}]})");
  CHECK(record["hypotheses"][0]["best"].dump() == "[]");
}

TEST_CASE("page record: of all sentences the three heads that align best, none that reads") {
  std::string heads = R"({"format":"attn-demo.heads","cross":[[)";
  for (int head = 0; head < 11; ++head) {
    heads += (head > 0 ? "," : "") + std::string(R"({"alignment":0.)") + std::to_string(10 + head) +
             R"(,"read_alignment":0.)" + (head == 9 ? "9}" : "1}");
  }
  CHECK(page_best_heads(heads + "]]}") == "[[0,10],[0,8],[0,7]]");
  CHECK(page_best_heads("{}") == "[]");
}

}  // namespace
}  // namespace attn
