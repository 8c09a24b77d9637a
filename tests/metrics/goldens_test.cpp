// Tests BLEU and chrF against sacreBLEU on the same sentences
// (tests/golden/make_metric_goldens.py).
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "metrics/bleu.h"
#include "metrics/bleu_tokenizer.h"
#include "metrics/chrf.h"
#include "metrics/unicode_text.h"

namespace attn::test {
namespace {

using nlohmann::json;

const json& goldens() {
  static const json read =
      json::parse(std::ifstream(ATTN_SOURCE_DIR "/tests/golden/metrics/goldens.json"));
  return read;
}

struct Corpus {
  std::vector<std::string> hypotheses, references;
};

Corpus corpus_of(const json& golden) {
  Corpus corpus;
  for (const std::size_t pair : golden["pairs"]) {
    corpus.hypotheses.push_back(goldens()["pairs"][pair][0]);
    corpus.references.push_back(goldens()["pairs"][pair][1]);
  }
  return corpus;
}

/// Returns sacreBLEU's signature up to its version.
std::string before_version(const std::string& signature) {
  return signature.substr(0, signature.rfind('|'));
}

template <typename List>
auto counts(const List& list, std::uint64_t NgramOverlap::*field) {
  std::vector<std::uint64_t> result;
  for (const NgramOverlap& each : list) result.push_back(each.*field);
  return result;
}

void check_bleu(const Corpus& corpus, const json& golden, BleuOptions options) {
  const BleuScore s = corpus_bleu(corpus.hypotheses, corpus.references, options);
  INFO("sacreBLEU: ", golden.dump());
  CHECK(std::abs(s.score - golden["score"].get<double>()) < 1e-9);
  CHECK(std::abs(s.brevity_penalty - golden["bp"].get<double>()) < 1e-12);
  for (std::size_t n = 0; n < kBleuOrder; ++n) {
    CHECK(golden["correct"][n] == s.correct[n]);
    CHECK(golden["total"][n] == s.total[n]);
    CHECK(std::abs(s.precisions[n] - golden["precisions"][n].get<double>()) < 1e-9);
  }
  CHECK(golden["sys_len"] == s.hypothesis_length);
  CHECK(golden["ref_len"] == s.reference_length);
  CHECK(before_version(bleu_signature(options)) == before_version(golden["signature"]));
}

void check_chrf(const Corpus& corpus, const json& golden, ChrfOptions options) {
  const ChrfScore s = corpus_chrf(corpus.hypotheses, corpus.references, options);
  INFO("sacreBLEU: ", golden.dump());
  CHECK(std::abs(s.score - golden["score"].get<double>()) < 1e-9);
  CHECK(golden["hypothesis"] == counts(s.counts, &NgramOverlap::hypothesis));
  CHECK(golden["reference"] == counts(s.counts, &NgramOverlap::reference));
  CHECK(golden["matching"] == counts(s.counts, &NgramOverlap::matching));
  CHECK(before_version(chrf_signature(options)) == before_version(golden["signature"]));
}

}  // namespace

TEST_CASE("13a cuts every text as sacreBLEU does") {
  for (const json& golden : goldens()["texts"]) {
    const std::string text = golden["text"];
    INFO("text: ", golden["text"].dump());
    CHECK(tokenize_13a(strip_right(text)) == golden["13a"].get<std::string>());
  }
}

TEST_CASE("lower() and split() are Python's") {
  for (const json& golden : goldens()["texts"]) {
    const std::string text = golden["text"];
    INFO("text: ", golden["text"].dump());
    CHECK(lowercase(text) == golden["lower"].get<std::string>());
    const std::vector<std::string_view> words = split_at_spaces(text);
    CHECK(std::vector<std::string>(words.begin(), words.end()) ==
          golden["split"].get<std::vector<std::string>>());
  }
}

TEST_CASE("BLEU and its parts are sacreBLEU's") {
  REQUIRE(goldens()["corpora"].size() > 150);
  for (const json& golden : goldens()["corpora"]) {
    const Corpus corpus = corpus_of(golden);
    INFO("pairs ", golden["pairs"].dump(),
         ", first hypothesis: ", json(corpus.hypotheses[0]).dump());
    check_bleu(corpus, golden["bleu"][0], {.lowercase = false});
    check_bleu(corpus, golden["bleu"][1], {.lowercase = true});
    check_bleu(corpus, golden["bleu"][2], {.lowercase = false, .tokenizer = BleuTokenizer::none});
    check_bleu(corpus, golden["bleu"][3], {.lowercase = true, .tokenizer = BleuTokenizer::none});
  }
}

TEST_CASE("chrF2 and its counts are sacreBLEU's") {
  for (const json& golden : goldens()["corpora"]) {
    const Corpus corpus = corpus_of(golden);
    INFO("pairs ", golden["pairs"].dump(),
         ", first hypothesis: ", json(corpus.hypotheses[0]).dump());
    check_chrf(corpus, golden["chrf"][0], {.lowercase = false});
    check_chrf(corpus, golden["chrf"][1], {.lowercase = true});
  }
}

}  // namespace attn::test
