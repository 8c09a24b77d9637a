// Compares the heads that the analysis, without alignments, calls best with the alignments of the
// toy corpus, for a model trained from scratch.
#ifndef ATTN_ASAN
#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/alignment.h"
#include "analysis/head_statistics.h"
#include "bad_input.h"
#include "model/directory/model_directory.h"
#include "record/json/record_reader.h"
#include "text/tokenizer.h"
#include "toy_model.h"
#include "train_run.h"
#include "translate/translator.h"

namespace attn::test {
namespace {

std::vector<std::string> toy_lines(const std::string& file) {
  return lines_of(bytes_of(kProject + "/data/toy/" + file));
}

struct ToyPair {
  std::string source;
  std::string target;
  GoldAlignment gold;
  std::string where;
};

/// Returns every pair that has an alignment.
std::vector<ToyPair> aligned_pairs() {
  std::vector<ToyPair> pairs;
  for (const std::string part : {"dev", "test"}) {
    const std::vector<std::string> source = toy_lines(part + ".en");
    const std::vector<std::string> target = toy_lines(part + ".de");
    const std::vector<std::string> gold = toy_lines(part + ".align");
    REQUIRE(source.size() == gold.size());
    REQUIRE(target.size() == gold.size());
    for (std::size_t i = 0; i < gold.size(); ++i) {
      const std::string where = part + ".align:" + std::to_string(i + 1);
      pairs.push_back({source[i], target[i], parse_pharaoh_line(gold[i], where), where});
    }
  }
  return pairs;
}

/// Returns the report over all pairs, with the given translations teacher-forced.
HeadReport toy_report() {
  const LoadedModel model = load_model(toy_model(), default_backend());
  const Tokenizer tokenizer(toy_model());
  const TranslationSettings settings{resolve_decode_options(model.decode, std::nullopt, "toy")};
  const Translator translator(model.transformer, tokenizer);
  HeadStatistics statistics;
  for (const ToyPair& pair : aligned_pairs()) {
    const PreparedSentence source = translator.prepare(pair.source, settings);
    RecordRequest request{{&source, 1}, settings};
    request.search = false;
    request.target = translator.target_ids(pair.target, settings);
    statistics.add(translator.record(request).front(), 0, pair.gold, pair.where);
  }
  return statistics.report();
}

float error_rate(const HeadReport& report, HeadIndex place) {
  REQUIRE(report.cross.at(place).gold);
  return report.cross.at(place).gold->error_rate().value();
}

}  // namespace

TEST_CASE("the toy's heads that are called best are among the best against gold") {
  const HeadReport report = toy_report();
  REQUIRE(report.gold_pairs >= 100);
  CHECK(report.gold_skipped == 0);
  REQUIRE(report.best.size() == 4);  // two layers of two heads
  std::vector<HeadIndex> by_gold = report.best;
  std::stable_sort(by_gold.begin(), by_gold.end(), [&](HeadIndex a, HeadIndex b) {
    return error_rate(report, a) < error_rate(report, b);
  });
  CHECK(report.best.front() == by_gold.front());
  CHECK(error_rate(report, report.best.front()) < 0.5F);
  // The worst head has a much higher error rate, so the choice was not trivial.
  CHECK(error_rate(report, by_gold.back()) > error_rate(report, report.best.front()) + 0.2F);
}

TEST_CASE("a record read back from --json has the same alignment") {
  const Result result =
      run_program({.args = {"translate", "--model", toy_model(), "--json", "-", "--target",
                            "Die Gruppe ging nach Hause", "The group went home"}});
  REQUIRE(result.code == kDone);
  const AttentionRecord record = record_from_json(Json::parse(result.out), "record");
  const WordAlignment alignment = align(record, 0);
  CHECK(alignment.source.size() == 4);
  CHECK(alignment.target.size() == 5);
  CHECK(alignment.links.size() == 5);
  CHECK(alignment.from.starts_with("cross:"));
}

}  // namespace attn::test
#endif
