// Tests the metrics of heads and word alignments as JSON: every number must be there.
#include "view/data/evaluation_json.h"

#include <doctest/doctest.h>

#include <bit>
#include <limits>
#include <string>

#include "base/at.h"
#include "base/json.h"
#include "record/json/json_parts.h"
#include "view/sample_report.h"

namespace attn {
namespace {

using test::gold_report;
using test::sample_report;

Json parsed(const HeadReport& report) {
  const std::string line = head_report_json(report);
  REQUIRE(line.ends_with('\n'));
  REQUIRE(line.find('\n') == line.size() - 1);
  return Json::parse(line);
}

void check_bits(const Json& json, const std::optional<float>& value) {
  if (!value) {
    CHECK(json.is_null());
    return;
  }
  REQUIRE(json.is_number());
  CHECK(std::bit_cast<std::uint32_t>(static_cast<float>(json.get<double>())) ==
        std::bit_cast<std::uint32_t>(*value));
}

void check_kind(const Json& json, const SiteReport& kind) {
  REQUIRE(json.size() == to_size(kind.layers));
  for (int layer = 0; layer < kind.layers; ++layer) {
    const Json& heads = at(json, layer);
    REQUIRE(heads.size() == to_size(kind.heads));
    for (int head = 0; head < kind.heads; ++head) {
      const Json& found = at(heads, head);
      const HeadMetrics& metrics = kind.at({layer, head});
      check_bits(found["entropy"], metrics.entropy);
      check_bits(found["distance"], metrics.distance);
      check_bits(found["diagonality"], metrics.diagonality);
      check_bits(found["end_mass"], metrics.end_mass);
      check_bits(found["punctuation_mass"], metrics.punctuation_mass);
      const bool cross = kind.site == AttentionSite::cross;
      CHECK(found.contains("alignment") == cross);
      CHECK(found.contains("read_alignment") == cross);
      if (!cross) continue;
      check_bits(found["alignment"], metrics.alignment);
      check_bits(found["read_alignment"], metrics.read_alignment);
      CHECK(found.contains("aer") == metrics.gold.has_value());
      if (!metrics.gold) continue;
      check_bits(found["aer"], metrics.gold->error_rate());
      check_bits(found["precision"], metrics.gold->precision());
      check_bits(found["recall"], metrics.gold->recall());
      check_bits(found["read_aer"], metrics.read_gold->error_rate());
    }
  }
}

TEST_CASE("report as JSON: every number comes back bit by bit") {
  for (const HeadReport& report : {sample_report(), gold_report(), sample_report(3, 5)}) {
    const Json json = parsed(report);
    CHECK(json["format"] == "attn-demo.heads");
    CHECK(json["version"] == 1);
    CHECK(json["model"] == "sample");
    CHECK(json["sentences"] == 3);
    check_kind(json["encoder_self"], report.encoder_self);
    check_kind(json["decoder_self"], report.decoder_self);
    check_kind(json["cross"], report.cross);
    REQUIRE(json["best"].size() == report.best.size());
    for (std::size_t i = 0; i < report.best.size(); ++i) {
      CHECK(json["best"][i]["layer"] == report.best[i].layer);
      CHECK(json["best"][i]["head"] == report.best[i].head);
    }
    CHECK(json.contains("gold") == (report.gold_pairs > 0));
  }
  const Json gold = parsed(gold_report())["gold"];
  CHECK(gold["pairs"] == 2);
  CHECK(gold["skipped"] == 1);
  check_bits(gold["choices"]["average"]["aer"], GoldScore{8, 10, 5, 6}.error_rate());
  CHECK(gold["choices"]["rollout"]["aer"].is_null());
}

TEST_CASE("report as JSON: what nothing defines is null; hostile names") {
  HeadReport report = sample_report(1, 1);
  report.encoder_self.metrics[0].diagonality.reset();
  report.cross.metrics[0].entropy = std::numeric_limits<float>::quiet_NaN();
  report.model = "\"</script>\u2028\x1b";
  const Json json = parsed(report);
  CHECK(json["encoder_self"][0][0]["diagonality"].is_null());
  CHECK(json["cross"][0][0]["entropy"].is_null());
  CHECK(head_report_json(report).find("\u2028") == std::string::npos);
  CHECK(parsed(HeadReport{})["cross"] == Json::array());
}

TEST_CASE("alignment as JSON: words, links and weights come back") {
  WordAlignment alignment;
  alignment.from = "cross:2:1";
  const std::string hostile = "\"</script>\u2028<svg onload=x>\x1b 😀";
  alignment.source = {{"a", 0, 1, WordType::word, 0}, {hostile, 1, 2, WordType::word, 2}};
  alignment.target = {{"x", 0, 1, WordType::word, 0}, {"\xff", 1, 1, WordType::punctuation, 1}};
  alignment.weights = {0.1F, 0.7F, 1e-30F, std::numeric_limits<float>::infinity()};
  alignment.links = {{2, 0, 0.7F}};
  std::string out = "x";
  JsonWriter json_out(out);
  write_alignment(json_out, alignment, true);
  REQUIRE(out.starts_with("x{"));
  CHECK(out.find('\n') == out.npos);
  CHECK(out.find("\u2028") == out.npos);
  const Json json = Json::parse(out.substr(1));
  CHECK(json["from"] == "cross:2:1");
  CHECK(json["source"][1]["text"] == hostile);
  CHECK(json["source"][1]["index"] == 2);
  CHECK(json["target"][1]["text"] == "\uFFFD");
  CHECK(json["links"].size() == 1);
  CHECK(json["links"][0]["source"] == 2);
  CHECK(json["links"][0]["target"] == 0);
  check_bits(json["links"][0]["weight"], 0.7F);
  check_bits(json["weights"][0][0], 0.1F);
  check_bits(json["weights"][0][1], 0.7F);
  check_bits(json["weights"][1][0], 1e-30F);
  CHECK(json["weights"][1][1].is_null());
  const std::string nothing = json_line([](JsonWriter& to) { write_alignment(to, {}, true); });
  CHECK(Json::parse(nothing)["links"] == Json::array());
}

}  // namespace
}  // namespace attn
