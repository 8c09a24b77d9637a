#include "analysis/pharaoh.h"

#include <doctest/doctest.h>

#include <cmath>

#include "analysis/head_statistics.h"
#include "analysis/small_record.h"
#include "base/files/files.h"
#include "check_error.h"
#include "view/text_output.h"

namespace attn {
namespace {

using test::check_error;
using test::maps_of;
using test::small_record;

GoldScore score(const std::vector<AlignmentLink>& found, const std::string& gold) {
  GoldScore score;
  add_to_score(score, found, parse_pharaoh_line(gold, "gold"));
  return score;
}

void check_score(const GoldScore& score, double precision, double recall, double error_rate) {
  REQUIRE(score.precision());
  REQUIRE(score.recall());
  REQUIRE(score.error_rate());
  CHECK(*score.precision() == doctest::Approx(precision));
  CHECK(*score.recall() == doctest::Approx(recall));
  CHECK(*score.error_rate() == doctest::Approx(error_rate));
}

TEST_CASE("a line is read") {
  const GoldAlignment links = parse_pharaoh_line(" 0-0  1-12\t3p2 4-5:0.25 \r", "here");
  REQUIRE(links.size() == 4);
  CHECK(links[1].source == 1);
  CHECK(links[1].target == 12);
  CHECK(links[1].sure);
  CHECK_FALSE(links[2].sure);
  CHECK(links[3].weight == 0.25F);
  CHECK(parse_pharaoh_line("", "here").empty());
}

TEST_CASE("what is no link is named, with its place") {
  for (const char* text :
       {"0", "0-", "-0", "0-0-0", "a-b", "0:0", "0-0:", "0-0:x", "0-0:-1", "+0-0", "00-0", "0-1.5",
        "0_1", "0-0:nan", "0-0:inf", "99999999999-0", "0 - 0"}) {
    CAPTURE(text);
    check_error([&] { parse_pharaoh_line(text, "test.align:3"); }, ExitCode::input,
                "test.align:3: found \"");
  }
  check_error([] { parse_pharaoh("0-0\n\n1-x 2-2\n", "x.align"); }, ExitCode::input,
              "x.align:3: found \"1-x\", expected links SOURCE-TARGET");
  check_error([] { parse_pharaoh_line("\x1b[2J", "x"); }, ExitCode::input, R"(\u{1b}[2J)");
}

TEST_CASE("a file: a line a pair, an empty line a pair without links") {
  const std::vector<GoldAlignment> lines = parse_pharaoh("0-0\n\n1-1 2-2\r\n", "x");
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].size() == 1);
  CHECK(lines[1].empty());
  CHECK(lines[2].size() == 2);
  CHECK(parse_pharaoh("", "x").empty());
  CHECK(parse_pharaoh("0-0", "x").size() == 1);
}

TEST_CASE("written and read back, weights and all") {
  WordAlignment alignment;
  alignment.links = {{0, 0, 0.1F}, {1, 2, 1.0F}, {7, 10, 0.33333334F}};
  CHECK(pharaoh_line(alignment) == "0-0 1-2 7-10");
  const std::string line = pharaoh_line(alignment, true);
  CHECK(line == "0-0:0.1 1-2:1 7-10:0.33333334");
  const GoldAlignment read = parse_pharaoh_line(line, "line");
  REQUIRE(read.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(AlignmentLink{read[i].source, read[i].target, read[i].weight} == alignment.links[i]);
  }
  CHECK(pharaoh_line({}).empty());
}

TEST_CASE("precision, recall and error rate: perfect, none, partial") {
  check_score(score({{0, 0, 1}, {1, 2, 1}}, "0-0 1-2"), 1, 1, 0);
  check_score(score({{0, 1, 1}, {1, 0, 1}}, "0-0 1-2"), 0, 0, 1);
  check_score(score({{0, 0, 1}, {1, 1, 1}, {2, 2, 1}}, "0-0 1-2 2-2 3-3"), 2.0 / 3, 0.5,
              1 - 4.0 / 7);
  // Links are written as source, then target.
  check_score(score({{0, 1, 1}}, "1-0"), 0, 0, 1);
  // Possible links count for precision, but missing them does not lower recall.
  check_score(score({{0, 0, 1}, {1, 1, 1}}, "0-0 1p1 2p2"), 1, 1, 0);
  check_score(score({{0, 0, 1}, {1, 1, 1}, {5, 5, 1}}, "0-0 4-4 1p1"), 2.0 / 3, 0.5,
              1 - (1 + 2) / (3.0 + 2));
  // A link that occurs twice in gold counts once, and is sure if either occurrence says so.
  check_score(score({{0, 0, 1}}, "0p0 0-0 0-0 0p0"), 1, 1, 0);
}

TEST_CASE("nothing found, nothing to find") {
  const GoldScore nothing_found = score({}, "0-0");
  CHECK_FALSE(nothing_found.precision());
  CHECK(*nothing_found.recall() == 0);
  CHECK(*nothing_found.error_rate() == 1);
  const GoldScore nothing_sure = score({{0, 0, 1}}, "0p0");
  CHECK(*nothing_sure.precision() == 1);
  CHECK_FALSE(nothing_sure.recall());
  CHECK(*nothing_sure.error_rate() == 0);
  CHECK_FALSE(score({}, "").error_rate());
}

TEST_CASE("heads against gold, over two pairs") {
  AttentionRecord record = small_record({"▁a", "▁b", "</s>"}, {"▁x", "▁y", "</s>"});
  record.hypotheses[0].decoder_self = test::even_maps(1, 2, 3, 3, true);
  const std::vector<float> writes = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::vector<float> reads = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  record.hypotheses[0].cross = maps_of(3, 3, {writes, reads});
  HeadStatistics statistics;
  statistics.add(record, 0, parse_pharaoh_line("0-0 1-1", "gold"), "gold:1");
  statistics.add(record, 0, parse_pharaoh_line("0-0 1-0", "gold"), "gold:2");
  statistics.add(record);  // without gold
  const HeadReport report = statistics.report();
  CHECK(report.sentences == 3);
  CHECK(report.gold_pairs == 2);
  CHECK(report.gold_skipped == 0);
  REQUIRE(report.cross.at({0, 0}).gold);
  check_score(*report.cross.at({0, 0}).gold, 3.0 / 4, 3.0 / 4, 0.25);
  // The second head writes y from a, and x only from the end symbol.
  check_score(*report.cross.at({0, 1}).gold, 0, 0, 1);
  check_score(*report.cross.at({0, 1}).read_gold, 3.0 / 4, 3.0 / 4, 0.25);
  // In the step that reads x, the first head looks at b, which is in the second pair's gold.
  check_score(*report.cross.at({0, 0}).read_gold, 1.0 / 2, 1.0 / 4, 1 - 2.0 / 6);
  CHECK_FALSE(report.encoder_self.at({0, 0}).gold);
  std::vector<std::string> names;
  for (const AlignmentChoiceScore& choice : report.gold_choices) {
    names.push_back(choice.choice);
    REQUIRE(choice.score.error_rate());
  }
  CHECK(names == std::vector<std::string>{"layer:0", "average", "rollout"});
  check_score(report.gold_choices[1].score, 2.0 / 4, 2.0 / 4, 0.5);  // x–a, y–a among equal weights
}

TEST_CASE("gold that does not fit the sentence is refused or skipped") {
  AttentionRecord record = small_record({"▁a", "▁b", "</s>"}, {"▁x", "</s>"});
  HeadStatistics statistics;
  const auto add = [&](const std::string& gold) {
    statistics.add(record, 0, parse_pharaoh_line(gold, "gold"), "toy.align:7");
  };
  check_error([&] { add("0-0 2-0"); }, ExitCode::input,
              "toy.align:7: a link names source word 2, but the sentence has 2, counted from 0");
  check_error([&] { add("1-1"); }, ExitCode::input, "a link names target word 1, but");
  CHECK(statistics.report().sentences == 0);  // the whole record was refused
  record.hypotheses[0].text = "x y z";  // the model reads different words than those of the text
  add("0-0 5-5");
  CHECK(statistics.report().sentences == 1);
  CHECK(statistics.report().gold_pairs == 0);
  CHECK(statistics.report().gold_skipped == 1);
  CHECK_FALSE(statistics.report().cross.at({0, 0}).gold);
}

TEST_CASE("the toy corpus' gold alignments can be read, and name words that there are") {
  std::size_t pairs = 0;
  for (const std::string part : {"dev", "test"}) {
    const std::string path = std::string(ATTN_SOURCE_DIR) + "/data/toy/" + part;
    const std::vector<GoldAlignment> gold = parse_pharaoh(read_file(path + ".align"), path);
    pairs += gold.size();
    for (const GoldAlignment& links : gold) CHECK(links.size() >= 3);
  }
  CHECK(pairs >= 100);
}

}  // namespace
}  // namespace attn
