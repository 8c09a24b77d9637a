#include "analysis/head_statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "analysis/small_record.h"
#include "check_error.h"

namespace attn {
namespace {

using test::maps_of;
using test::small_record;

const double kLn2 = std::log(2.0);

void check(const std::optional<float>& found, double expected) {
  REQUIRE(found);
  CHECK(static_cast<double>(*found) == doctest::Approx(expected).epsilon(1e-6));
}

HeadReport report_of(const AttentionRecord& record) {
  HeadStatistics statistics;
  statistics.add(record);
  return statistics.report();
}

TEST_CASE("encoder: every figure, by hand") {
  AttentionRecord record = small_record({"▁a", "▁b", "</s>"}, {"▁x", "▁y", "</s>"});
  record.encoder_self = maps_of(3, 3, {{1, 0, 0, 0.5F, 0.5F, 0, 0.25F, 0.25F, 0.5F}});
  const HeadReport report = report_of(record);
  CHECK(report.sentences == 1);
  CHECK(report.model == "small");
  CHECK(report.encoder_self.queries == 3);
  const HeadMetrics& head = report.encoder_self.at({0, 0});
  check(head.entropy, 2.5 * kLn2 / 3);  // 0, ln 2, 1.5 ln 2
  check(head.distance, 1.25 / 3);       // 0, 0.5, 0.75
  check(head.diagonality, 2.125 / 3);   // 1, 1 − 0.5/1, 1 − 0.75/2
  check(head.end_mass, 0.5 / 3);
  check(head.punctuation_mass, 0);
  CHECK_FALSE(head.alignment);
  CHECK_FALSE(head.read_alignment);
}

TEST_CASE("decoder: only what a query may see, and the start symbol for the end symbol") {
  AttentionRecord record = small_record({"▁a", "</s>"}, {"▁x", ",", "</s>"});
  record.hypotheses[0].decoder_self = maps_of(3, 3, {{1, 0, 0, 0.25F, 0.75F, 0, 0, 0.5F, 0.5F}});
  const HeadMetrics head = report_of(record).decoder_self.at({0, 0});
  check(head.entropy, (0.25 * std::log(4) + 0.75 * std::log(4.0 / 3) + kLn2) / 3);
  check(head.distance, 0.75 / 3);  // 0, 0.25, 0.5
  check(head.diagonality, 0.75);   // the first row has no choice; 1 − 0.25/1, 1 − 0.5/2
  check(head.end_mass, 1.25 / 3);
  check(head.punctuation_mass, 0.5 / 3);  // "," is the third key
}

TEST_CASE("cross: distances from the diagonal of a map that is not square") {
  AttentionRecord record = small_record({"▁a", ",", "▁b", "</s>"}, {"▁x", "</s>"});
  record.hypotheses[0].cross = maps_of(2, 4, {{0.5F, 0.25F, 0, 0.25F, 0, 0, 1, 0}});
  const HeadMetrics head = report_of(record).cross.at({0, 0});
  check(head.distance, 0.75);    // (0.25 + 0.125 + 0.625 + 0.5) / 2
  check(head.diagonality, 0.7);  // 1 − 1/2.5, 1 − 0.5/2.5
  check(head.end_mass, 0.125);
  check(head.punctuation_mass, 0.125);
  check(head.entropy, (0.5 * kLn2 + 0.5 * std::log(4)) / 2);
  // Counts only the word x, from a and b: columns 0.5 and 0. 2 · 0.5 / (1 + 2).
  check(head.alignment, 1.0 / 3);
  // The step that reads x looks only at b: 2 · 1 / 3.
  check(head.read_alignment, 2.0 / 3);
}

TEST_CASE("alignment: by hand, and at its ends") {
  const auto alignment = [](const std::vector<float>& head) {
    AttentionRecord record = small_record({"▁a", "▁b", "</s>"}, {"▁x", "▁y", "</s>"});
    record.hypotheses[0].cross = maps_of(3, 3, {head});
    return report_of(record).cross.at({0, 0}).alignment;
  };
  // Columns 0.5 and 1.25: 0.25/0.5 + (0.0625 + 1)/1.25 = 1.35.
  check(alignment({0.5F, 0.25F, 0.25F, 0, 1, 0, 0, 0, 1}), 2 * 1.35 / 4);
  check(alignment({1, 0, 0, 0, 1, 0, 0, 0, 1}), 1);
  check(alignment({0, 1, 0, 1, 0, 0, 0, 0, 1}), 1);                      // reordered
  check(alignment({0.5F, 0.5F, 0, 0.5F, 0.5F, 0, 0.5F, 0.5F, 0}), 0.5);  // uniform: 1/n
  check(alignment({1, 0, 0, 1, 0, 0, 1, 0, 0}), 0.5);                    // leaves b out
  check(alignment({0, 0, 1, 0, 0, 1, 0, 0, 1}), 0);  // all weight on the end symbol
}

TEST_CASE("alignment counts words, not pieces, and no punctuation") {
  AttentionRecord record =
      small_record({"▁a", "▁b", "c", ".", "</s>"}, {"▁x", "y", "▁z", ".", "</s>"});
  record.hypotheses[0].cross = maps_of(5, 5, {{0,     0.5F,  0.5F,  0,     0,  //
                                               0,     1,     0,     0,     0,  //
                                               1,     0,     0,     0,     0,  //
                                               0.25F, 0.25F, 0.25F, 0.25F, 0,  //
                                               0,     0,     0,     0,     1}});
  check(report_of(record).cross.at({0, 0}).alignment, 1);
  record.hypotheses[0].cross.weights[0] = 0.5F;  // x gives to a what it took from c
  record.hypotheses[0].cross.weights[2] = 0;
  // xy: a 0.25, bc 0.75; z: a 1. (0.0625 + 1)/1.25 + 0.5625/0.75 = 1.6; two words on each side.
  check(report_of(record).cross.at({0, 0}).alignment, 2 * 1.6 / 4);
}

TEST_CASE("alignment leaves out punctuation that stands alone, too") {
  AttentionRecord record = small_record({"▁a", "▁–", "▁b", "</s>"}, {"▁x", "▁–", "▁y", "</s>"});
  record.hypotheses[0].cross = maps_of(4, 4,
                                       {{1, 0, 0, 0,        //
                                         0.5F, 0, 0.5F, 0,  //
                                         0, 0.5F, 0.5F, 0,  //
                                         0, 0, 0, 1}});
  check(report_of(record).cross.at({0, 0}).alignment,
        2 * 1.5 / 4);  // y gives half of its weight to the dash
}

TEST_CASE("a head reads where that aligns better than writing") {
  HeadMetrics metrics;
  CHECK_FALSE(metrics.aligns_what_it_reads());
  metrics.read_alignment = 0.6F;
  CHECK_FALSE(metrics.aligns_what_it_reads());
  metrics.alignment = 0.5F;
  CHECK(metrics.aligns_what_it_reads());
  metrics.alignment = 0.6F;
  CHECK_FALSE(metrics.aligns_what_it_reads());
  metrics.read_alignment.reset();
  CHECK_FALSE(metrics.aligns_what_it_reads());
}

TEST_CASE("heads that align what they read are known, and ranked last") {
  AttentionRecord record = small_record({"▁a", "▁b", "</s>"}, {"▁x", "▁y", "</s>"});
  record.hypotheses[0].decoder_self = test::even_maps(1, 4, 3, 3, true);
  const std::vector<float> reads = {0, 0, 1, 1, 0, 0, 0, 1, 0};
  const std::vector<float> blunt = {0.4F, 0.2F, 0.4F, 0.2F, 0.4F, 0.4F, 0.3F, 0.3F, 0.4F};
  const std::vector<float> writes = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  record.hypotheses[0].cross = maps_of(3, 3, {reads, blunt, writes, writes});
  const HeadReport report = report_of(record);
  check(report.cross.at({0, 0}).alignment, 0.5);
  check(report.cross.at({0, 0}).read_alignment, 1);
  CHECK(report.cross.at({0, 0}).aligns_what_it_reads());
  CHECK_FALSE(report.cross.at({0, 1}).aligns_what_it_reads());
  CHECK_FALSE(report.cross.at({0, 2}).aligns_what_it_reads());
  CHECK(*report.cross.at({0, 1}).alignment < 0.5F);
  CHECK(report.best == std::vector<HeadIndex>{{0, 2}, {0, 3}, {0, 1}, {0, 0}});
}

TEST_CASE("several sentences: means over all queries, and words together") {
  AttentionRecord one = small_record({"▁a", "▁b", "</s>"}, {"▁x", "▁y", "</s>"});
  one.encoder_self = maps_of(3, 3, {{1, 0, 0, 1, 0, 0, 1, 0, 0}});  // distances 0 1 2
  one.hypotheses[0].cross = maps_of(3, 3, {{1, 0, 0, 0, 1, 0, 0, 0, 1}});
  AttentionRecord two = small_record({"▁a", "</s>"}, {"▁x", "</s>"});
  two.encoder_self = maps_of(2, 2, {{0, 1, 0, 1}});         // distances 1 0
  two.hypotheses[0].cross = maps_of(2, 2, {{0, 1, 0, 1}});  // all weight on the end symbol
  HeadStatistics statistics;
  statistics.add(one);
  statistics.add(two);
  const HeadReport report = statistics.report();
  CHECK(report.sentences == 2);
  CHECK(report.encoder_self.queries == 5);
  check(report.encoder_self.at({0, 0}).distance, 4.0 / 5);
  check(report.encoder_self.at({0, 0}).end_mass, 2.0 / 5);
  check(report.cross.at({0, 0}).alignment, 2.0 * 2 / (4 + 2));  // not (1 + 0) / 2
}

TEST_CASE("several layers and heads keep their places") {
  AttentionRecord record = small_record({"▁a", "</s>"}, {"▁x", "</s>"});
  record.encoder_self = test::even_maps(2, 3, 2, 2);
  const std::size_t head = (1 * 3 + 2) * 4;  // layer 1, head 2: all weight on the end symbol
  for (std::size_t i = 0; i < 4; ++i)
    record.encoder_self.weights[head + i] = i % 2 == 0 ? 0.0F : 1.0F;
  const HeadReport report = report_of(record);
  CHECK(report.encoder_self.layers == 2);
  CHECK(report.encoder_self.heads == 3);
  for (int layer = 0; layer < 2; ++layer) {
    for (int h = 0; h < 3; ++h) {
      check(report.encoder_self.at({layer, h}).end_mass, layer == 1 && h == 2 ? 1 : 0.5);
    }
  }
}

TEST_CASE("an empty sentence contributes nothing, a translation without words nothing to align") {
  HeadStatistics statistics;
  statistics.add(small_record({"</s>"}, {}));
  HeadReport report = statistics.report();
  CHECK(report.sentences == 0);
  CHECK(report.encoder_self.metrics.empty());
  CHECK(report.best.empty());

  statistics.add(small_record({"▁a", "</s>"}, {"</s>"}));
  statistics.add(small_record({"▁a", "</s>"}, {}));
  report = statistics.report();
  CHECK(report.sentences == 2);
  CHECK(report.encoder_self.queries == 4);
  CHECK(report.cross.queries == 1);
  CHECK_FALSE(report.cross.at({0, 0}).alignment);
  CHECK(report.best.empty());

  const AttentionRecord full = small_record({"▁a", "▁b", "</s>"}, {"▁x", "</s>"});
  HeadStatistics alone;
  alone.add(full);
  statistics.add(full);
  CHECK(statistics.report().cross.at({0, 0}).alignment ==
        alone.report().cross.at({0, 0}).alignment);
}

TEST_CASE("one word: no choice is no diagonality, and everything stays finite") {
  AttentionRecord record = small_record({"▁a", "</s>"}, {"▁x"});
  const HeadReport report = report_of(record);
  CHECK_FALSE(report.decoder_self.at({0, 0}).diagonality);
  check(report.decoder_self.at({0, 0}).entropy, 0);
  check(report.cross.at({0, 0}).diagonality, 0.0);      // both keys are as far away as possible
  CHECK_FALSE(report.cross.at({0, 0}).read_alignment);  // truncated, so x was never read
  record.hypotheses.clear();
  CHECK(report_of(record).cross.metrics.empty());
  check(report_of(record).encoder_self.at({0, 0}).entropy, kLn2);
}

TEST_CASE("rows that are not finite count nowhere") {
  AttentionRecord record = small_record({"▁a", "▁b", "</s>"}, {"▁x", "▁y", "</s>"});
  record.encoder_self = maps_of(3, 3, {{1, 0, 0, 0.5F, 0.5F, 0, 0, 0, 1}});
  record.hypotheses[0].cross = maps_of(3, 3, {{1, 0, 0, 0, 1, 0, 0, 0, 1}});
  record.encoder_self.weights[4] = std::numeric_limits<float>::quiet_NaN();
  record.hypotheses[0].cross.weights[4] = std::numeric_limits<float>::infinity();
  HeadReport report = report_of(record);
  CHECK(report.skipped_rows == 2);
  check(report.encoder_self.at({0, 0}).distance, 0);
  check(report.encoder_self.at({0, 0}).end_mass, 0.5);
  check(report.cross.at({0, 0}).alignment, 2.0 / 3);  // x and a, b; y is missing
  for (float& weight : record.hypotheses[0].cross.weights) weight = NAN;
  report = report_of(record);
  CHECK_FALSE(report.cross.at({0, 0}).entropy);
  CHECK_FALSE(report.cross.at({0, 0}).alignment);
  CHECK(report.best.empty());
}

TEST_CASE("maps that do not fit are refused") {
  AttentionRecord record = small_record({"▁a", "▁b", "</s>"}, {"▁x", "</s>"});
  HeadStatistics statistics;
  statistics.add(record);
  AttentionRecord other = record;
  other.source.tokens.pop_back();
  test::check_error([&] { statistics.add(other); }, ExitCode::input,
                    "encoder maps are [1, 1, 3, 3] with 9 numbers; expected 2 queries and 2 keys");
  other = record;
  other.hypotheses[0].cross.weights.pop_back();
  test::check_error([&] { statistics.add(other); }, ExitCode::input, "with 5 numbers");
  other = record;
  other.hypotheses[0].decoder_input.tokens.pop_back();
  test::check_error([&] { statistics.add(other); }, ExitCode::input, "read 1 tokens and wrote 2");
  other = record;
  other.encoder_self = test::even_maps(1, 2, 3, 3);
  test::check_error([&] { statistics.add(other); }, ExitCode::input, "records of one model");
}

}  // namespace
}  // namespace attn
