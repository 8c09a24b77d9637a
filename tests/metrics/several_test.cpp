// Tests several references, other tokenizers, TER, chrF2++ and the paired bootstrap against
// sacreBLEU on the same sentences (tests/golden/make_metric_goldens.py).
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "metrics/bleu.h"
#include "metrics/bootstrap.h"
#include "metrics/chrf.h"
#include "metrics/ter.h"

namespace attn::test {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

const json& several() {
  static const json read =
      json::parse(std::ifstream(ATTN_SOURCE_DIR "/tests/golden/metrics/several.json"));
  return read;
}

Lines lines_of(const json& all, const std::vector<std::size_t>& chosen) {
  Lines lines;
  for (const std::size_t i : chosen) lines.push_back(all[i]);
  return lines;
}

std::vector<Lines> references_of(const json& golden, const std::vector<std::size_t>& chosen) {
  std::vector<Lines> references;
  for (std::size_t r = 0; r < golden["references"]; ++r) {
    references.push_back(lines_of(several()["references"][r], chosen));
  }
  return references;
}

/// Returns sacreBLEU's signature up to its version.
std::string until_version(const std::string& signature) {
  return signature.substr(0, signature.rfind('|'));
}

void check_signature(const std::string& own, const json& theirs) {
  CHECK(until_version(own) == until_version(theirs.get<std::string>()));
}

void check_bleu_of(const json& golden, const Lines& hypotheses,
                   const std::vector<Lines>& references) {
  for (const auto& tokenizer : golden["bleu"].items()) {
    const std::string& name = tokenizer.key();
    const json& theirs = tokenizer.value();
    INFO("tokenizer ", name);
    const BleuOptions options{golden["lowercase"], parse_bleu_tokenizer(name).value()};
    const BleuScore s = corpus_bleu(hypotheses, references, options);
    CHECK(std::abs(s.score - theirs["score"].get<double>()) < 1e-9);
    CHECK(theirs["correct"] == s.correct);
    CHECK(theirs["total"] == s.total);
    CHECK(theirs["sys_len"] == s.hypothesis_length);
    CHECK(theirs["ref_len"] == s.reference_length);
    check_signature(bleu_signature(options, {references.size(), {}}), theirs["signature"]);
  }
}

struct PairedCase {
  Lines baseline, system;
  std::vector<Lines> references;
};

/// Returns BLEU, chrF2, chrF2++ and TER of both systems, in the goldens' order.
std::vector<PairedMetric> metrics_of(const PairedCase& c) {
  const ChrfOptions words{.words = true};
  std::vector<PairedMetric> metrics = {
      {bleu_counts(c.baseline, c.references), bleu_counts(c.system, c.references), 0, 0,
       bleu_from_sample},
      {chrf_counts(c.baseline, c.references), chrf_counts(c.system, c.references), 0, 0,
       chrf_from_sample},
      {chrf_counts(c.baseline, c.references, words), chrf_counts(c.system, c.references, words), 0,
       0, chrf_from_sample},
      {ter_counts(c.baseline, c.references), ter_counts(c.system, c.references), 0, 0,
       ter_from_sample}};
  using Score = double (*)(std::span<const double>);
  const Score bleu = [](std::span<const double> sums) { return bleu_from_counts(sums).score; };
  const Score chrf = [](std::span<const double> sums) { return chrf_from_counts(sums).score; };
  const Score ter = [](std::span<const double> sums) { return ter_from_counts(sums).score; };
  const Score scores[] = {bleu, chrf, chrf, ter};
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    metrics[m].baseline_score = scores[m](metrics[m].baseline.sums());
    metrics[m].system_score = scores[m](metrics[m].system.sums());
  }
  return metrics;
}

void check_interval(const ConfidenceInterval& own, const json& theirs) {
  CHECK(std::abs(own.mean - theirs["mean"].get<double>()) < 1e-12);
  CHECK(std::abs(own.half_width - theirs["ci"].get<double>()) < 1e-12);
}

}  // namespace

TEST_CASE("every tokenizer cuts every text as sacreBLEU's does") {
  const json& texts = several()["texts"];
  for (const auto& tokenizer : several()["tokens"].items()) {
    const std::string& name = tokenizer.key();
    const json& tokens = tokenizer.value();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      INFO(name, " of ", texts[i].dump());
      const NgramUnits units =
          bleu_units(texts[i].get<std::string>(), parse_bleu_tokenizer(name).value());
      Lines own;
      for (const NgramUnits::Range& range : units.ranges) {
        own.push_back(units.text.substr(range.begin, range.end - range.begin));
      }
      CHECK(own == tokens[i].get<Lines>());
    }
  }
  CHECK_FALSE(parse_bleu_tokenizer("13A").has_value());
}

TEST_CASE("BLEU, chrF2, chrF2++ and TER against several references are sacreBLEU's") {
  REQUIRE(several()["corpora"].size() > 80);
  for (const json& golden : several()["corpora"]) {
    const std::vector<std::size_t> chosen = golden["lines"];
    const Lines hypotheses = lines_of(several()["hypotheses"], chosen);
    const std::vector<Lines> references = references_of(golden, chosen);
    const SignatureOptions facts{references.size(), {}};
    INFO("lines ", golden["lines"].dump(), ", references ", references.size());
    check_bleu_of(golden, hypotheses, references);
    for (const bool words : {false, true}) {
      const json& theirs = golden[words ? "chrf++" : "chrf"];
      const ChrfOptions options{golden["lowercase"], words};
      CHECK(corpus_chrf(hypotheses, references, options).score == theirs["score"].get<double>());
      check_signature(chrf_signature(options, facts), theirs["signature"]);
    }
    const TerScore ter = corpus_ter(hypotheses, references);
    CHECK(ter.score == golden["ter"]["score"].get<double>());
    CHECK(ter.edits == golden["ter"]["edits"].get<double>());
    CHECK(ter.reference_length == golden["ter"]["length"].get<double>());
    check_signature(ter_signature(facts), golden["ter"]["signature"]);
  }
}

TEST_CASE("the paired bootstrap's means, intervals and p are sacreBLEU's") {
  for (const json& golden : several()["paired"]) {
    const std::size_t all = several()["hypotheses"].size(), cut = golden["lines"];
    std::vector<std::size_t> chosen;
    for (std::size_t i = all - cut; i < all; ++i) chosen.push_back(i);
    const PairedCase lines{lines_of(several()["baseline"], chosen),
                           lines_of(several()["hypotheses"], chosen),
                           references_of(golden, chosen)};
    const std::vector<PairedMetric> metrics = metrics_of(lines);
    const Resampling resampling{golden["samples"], 12345};
    const std::vector<PairedResult> results = paired_bootstrap(metrics, resampling);
    const SignatureOptions facts{lines.references.size(), resampling};
    for (std::size_t m = 0; m < metrics.size(); ++m) {
      const json& theirs = golden["metrics"][m];
      INFO("metric ", m, ", lines ", cut, ": ", theirs.dump());
      CHECK(std::abs(metrics[m].system_score - theirs["system"]["score"].get<double>()) < 1e-12);
      check_interval(results[m].baseline, theirs["baseline"]);
      check_interval(results[m].system, theirs["system"]);
      CHECK(results[m].p_value == theirs["system"]["p"].get<double>());
    }
    check_signature(bleu_signature({}, facts), golden["metrics"][0]["signature"]);
    check_signature(chrf_signature({.words = true}, facts), golden["metrics"][2]["signature"]);
    check_signature(ter_signature(facts), golden["metrics"][3]["signature"]);
  }
}

TEST_CASE("random numbers are those of numpy's default_rng") {
  // The numbers are np.random.default_rng(12345).bit_generator.random_raw(2), and choice(100, 10)
  // from the same seed.
  Pcg64 raw(12345);
  CHECK(raw.next64() == 4193609425186963869U);
  CHECK(raw.next64() == 5843160025838961886U);
  Pcg64 small(12345);
  for (const unsigned expected : {69U, 22U, 78U, 31U, 20U, 79U, 64U, 67U, 98U, 39U}) {
    CHECK(small.below(100) == expected);
  }
  Pcg64 wide(0x123456789ABCDEFU);
  CHECK(wide.next64() == 13120626929746913276U);
  CHECK(wide.below(3000000000U) ==
        1595171014U);  // most random numbers are rejected for such a wide range
  CHECK(wide.below(3000000000U) == 1279284619U);
}

TEST_CASE("lists that do not fit together are errors") {
  const Lines one = {"a"}, two = {"a", "b"};
  const std::vector<Lines> none, uneven = {one, two};
  CHECK_THROWS_WITH_AS(corpus_bleu(one, none), "no references; expected at least one list of them",
                       std::invalid_argument);
  CHECK_THROWS_WITH_AS(corpus_ter(one, uneven),
                       "1 hypotheses and 2 references; expected one reference for each hypothesis",
                       std::invalid_argument);
  const std::vector<PairedMetric> differ = {{ter_counts(one, std::vector<Lines>{one}),
                                             ter_counts(two, std::vector<Lines>{two}), 0, 0,
                                             ter_from_sample}};
  CHECK_THROWS_WITH_AS(paired_bootstrap(differ),
                       "a paired bootstrap needs the same sentences of both systems, at least one",
                       std::invalid_argument);
}

TEST_CASE("TER counts shifted words once, and nothing against nothing is 0") {
  const std::vector<Lines> reference = {{"w x y z a b c"}};
  CHECK(corpus_ter(Lines{"a b c w x y z"}, reference).edits == 1);
  CHECK(corpus_ter(Lines{""}, std::vector<Lines>{{""}}).score == 0.0);
  CHECK(corpus_ter(Lines{"a"}, std::vector<Lines>{{""}}).score == 100.0);
}

}  // namespace attn::test
