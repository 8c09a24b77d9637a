// Tests records in a page: the ends of words, the heads that align best, and what is left out.
#include <doctest/doctest.h>

#include "base/json.h"
#include "view/page/page_html.h"
#include "view/sample_record.h"

namespace attn {
namespace {

constexpr PageDetail kEverything{.vectors = true, .search = true};

Json page_json(const AttentionRecord& record, PageDetail detail = kEverything) {
  return Json::parse(page_record(record, detail));
}

AttentionVectors some_vectors() {
  AttentionVectors vectors;
  for (HeadVectors* each : {&vectors.query, &vectors.key, &vectors.value}) {
    *each = {1, 1, 1, 1, {1}};
  }
  return vectors;
}

HeadMetrics aligning(float alignment, std::optional<float> read) {
  HeadMetrics metrics;
  metrics.alignment = alignment;
  metrics.read_alignment = read;
  return metrics;
}

/// Returns a record with vectors, metrics, an alignment and a search.
AttentionRecord full_record() {
  AttentionRecord record =
      test::sample_record({"▁Go", "▁ho", "me", ".", "</s>"}, {"▁Geh", "▁heim", "</s>"});
  record.source_text = "Go home.";
  record.encoder_vectors = some_vectors();
  record.residual_stream = {{"embedded", "", -1, 1, {1}}};
  HypothesisRecord& hypothesis = record.hypotheses[0];
  hypothesis.text = "Geh heim";
  hypothesis.decoder_self_vectors = hypothesis.cross_vectors = some_vectors();
  hypothesis.alternatives =
      Alternatives{1, {1, 2, 3}, {"a", "b", "c"}, {-1, -1, -1}, {1, 1, 1}, {0, 0, 0}};
  hypothesis.alignment = WordAlignment{"average", {{"Go", 0, 1, WordType::word, 0}}, {}, {}, {}};
  hypothesis.decoder_report = SiteReport{AttentionSite::decoder_self, 1, 1, {{}}};
  hypothesis.cross_report =
      SiteReport{AttentionSite::cross, 1, 2, {aligning(0.5F, 0.9F), aligning(0.3F, std::nullopt)}};
  const std::vector<float> decoder = {1, 1, 1, 1}, cross(20, 0.2F);
  record.search = SearchTree{2,
                             1,
                             {{-1, 0, 1, "▁G", 0, 0, 0, true, false, decoder, cross},
                              {0, 1, 2, "eh", 0, 0, 0, true, false, {}, {}},
                              {0, 1, 3, "▁ab", 0, 0, 0, false, false, {}, {}}}};
  return record;
}

TEST_CASE("page record: words of every sequence, best heads, branches of a search") {
  const Json record = page_json(full_record());
  CHECK(record["source"]["ends"].dump() == "[1,3,4,5]");
  const Json& hypothesis = record["hypotheses"][0];
  CHECK(hypothesis["ends"].dump() == "[1,2,3]");
  CHECK(hypothesis["decoder_input"]["ends"].dump() == "[1,2,3]");
  CHECK(hypothesis["best"].dump() == "[[0,1]]");
  CHECK(hypothesis["alignment"].dump() ==
        R"({"from":"average","source":[{"text":"Go","index":0}],"target":[],"links":[]})");
  const Json& nodes = record["search"]["nodes"];
  CHECK(nodes[0]["ends"].dump() == "[1]");
  CHECK(nodes[1]["ends"].dump() == "[2]");
  CHECK(nodes[2]["ends"].dump() == "[1,2]");
  CHECK(!nodes[1].contains("cross"));
  for (const Json* maps : {&record["encoder_self"], &hypothesis["cross"], &nodes[0]["cross"]}) {
    CHECK(maps->is_string());
  }
}

TEST_CASE("page record: vectors and searches are there where they are wanted") {
  for (const bool vectors : {false, true}) {
    for (const bool search : {false, true}) {
      const Json record = page_json(full_record(), {vectors, search});
      for (const char* key : {"vectors", "way"}) CHECK(record.contains(key) == vectors);
      CHECK(record["hypotheses"][0].contains("vectors") == vectors);
      CHECK(record["hypotheses"][0]["alternatives"].contains("logits") == vectors);
      CHECK(record.contains("search") == search);
    }
  }
}

TEST_CASE(
    "page record: without a mark of words every piece is one; without figures no head is best") {
  const Json record = page_json(test::sample_record({"a", "b"}, {"c"}));
  CHECK(record["source"]["ends"].dump() == "[1,2]");
  CHECK(record["hypotheses"][0]["ends"].dump() == "[1]");
  CHECK(record["hypotheses"][0]["best"].dump() == "[]");
}

TEST_CASE("page record: large maps of a pattern, and mixtures") {
  AttentionRecord record = test::demo_record();
  AttentionMaps& maps = record.encoder_self;
  maps.keys = 2;
  maps.weights.resize(2 * 2 * 5 * 2, 0.5F);
  maps.approximation.emplace();
  maps.approximation->projected_keys = maps.approximation->projected_values =
      std::vector<float>(20, 0.5F);
  const Json mixed = page_json(record);
  CHECK(mixed["encoder_self"].is_string());
  const Json& more = mixed["approximation"]["encoder_self"];
  CHECK(more["mixtures"] == 2);
  CHECK(!more.contains("weights"));
  CHECK(more["keys"].is_string());
  constexpr int tokens = max_dense_tokens + 1;
  maps = {1, 1, tokens, tokens, {}, PatternMaps{{test::small_longformer(tokens)}, {0}}};
  maps.weights.resize(maps.weight_count());
  const Json large = page_json(record);
  CHECK(large["encoder_self"] == Json::array());
  CHECK(large["seen"]["encoder_self"].contains("of"));
  CHECK(!large["seen"]["encoder_self"].contains("weights"));
}

TEST_CASE("page: of all sentences the three heads that align best, none that reads") {
  std::string heads = R"({"format":"attn-demo.heads","version":1,"sentences":2,)";
  heads += R"("encoder_self":[],"decoder_self":[],"cross":[[)";
  for (int head = 0; head < 11; ++head) {
    heads += (head > 0 ? "," : "") + std::string(R"({"alignment":0.)") + std::to_string(10 + head) +
             R"(,"read_alignment":0.)" + (head == 9 ? "9}" : "1}");
  }
  heads += "]]}";
  CHECK(Json::parse(page_data({.records = {}, .heads = heads}))["best"].dump() ==
        "[[0,10],[0,8],[0,7]]");
}

}  // namespace
}  // namespace attn
