// Tests subword sampling against all possible segmentations, and against SentencePiece's own
// sampling (tests/golden/make_sampling_goldens.py). The seeds are fixed, so a test that passes
// once always passes.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "base/at.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/strings/utf8.h"
#include "check_error.h"
#include "model_of_pieces.h"
#include "test_files.h"
#include "text/sentencepiece/segmentation.h"
#include "text/sentencepiece/sentencepiece_processor.h"
#include "text/tokenizer.h"
#include "text/tokenizer_trainer.h"

namespace attn::test {
namespace {

using Counts = std::map<std::string, double>;

/// Returns a bound that χ² with this many degrees of freedom exceeds by chance in about 1 of 10⁷
/// cases.
double chi_squared_bound(std::size_t degrees) {
  const auto n = static_cast<double>(degrees);
  return n + 5 * std::sqrt(2 * n) + 10;
}

/// Returns the counts of the keys in `kept`, and all others together.
Counts pooled(const Counts& counts, const Counts& kept) {
  Counts result;
  for (const auto& [what, count] : kept) result[what] = 0;
  for (const auto& [what, count] : counts) result[kept.contains(what) ? what : "(rest)"] += count;
  return result;
}

/// Checks counts against expected ones with Pearson's test.
void check_counts(const Counts& counts, const Counts& expected) {
  constexpr double kRare = 5;  // the statistic is χ² only if more are expected
  Counts kept;
  for (const auto& [what, count] : expected) {
    if (count >= kRare) kept[what] = count;
  }
  for (const auto& one : counts) {
    CAPTURE(one.first);
    CHECK(expected.contains(one.first));
  }
  double statistic = 0;
  Counts found = pooled(counts, kept);
  for (const auto& [what, count] : pooled(expected, kept)) {
    const double difference = found[what] - count;
    statistic += difference * difference / count;
  }
  CHECK(statistic < chi_squared_bound(kept.size()));
}

/// Checks that two samples of the same size are from one distribution. `theirs` may omit rare
/// values.
void check_same(const Counts& ours, Counts theirs, double samples) {
  const Counts kept = theirs;
  theirs["(rest)"] = samples;
  for (const auto& [what, count] : kept) theirs["(rest)"] -= count;
  double statistic = 0;
  Counts found = pooled(ours, kept);
  for (const auto& [what, count] : theirs) {
    const double difference = found[what] - count;
    const double both = found[what] + count;
    if (both > 0) statistic += difference * difference / both;
  }
  CHECK(statistic < chi_squared_bound(kept.size()));
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += (text.empty() ? "" : " ") + piece;
  return text;
}

// --- every cut there is ----------------------------------------------------------------------

const std::vector<SentencePieceEntry>& few_pieces() {
  static const std::vector<SentencePieceEntry> pieces = {{"<unk>", 0, PieceType::unknown},
                                                         {"a", -2},
                                                         {"b", -3.5F},
                                                         {"ab", -4},
                                                         {"ba", -1.5F},
                                                         {"aba", -6},
                                                         {"bab", -5},
                                                         {"é", -1},
                                                         {"aé", -2.5F},
                                                         {"xa", 0, PieceType::user_defined},
                                                         {"bb", 0, PieceType::unused},
                                                         {"abab", 0, PieceType::control}};
  return pieces;
}

SentencePieceModel small_model() {
  return test::model_of(few_pieces());
}

/// Returns SentencePiece's score of an entry: the unknown one has the lowest score minus 10, a
/// user-defined one its length times the largest score (at least FLT_MIN) minus 0.1.
double score_of(const SentencePieceEntry& piece) {
  return piece.type == PieceType::user_defined ? -0.1 : static_cast<double>(piece.score);
}
constexpr double kUnknownScore = -6.0 - 10.0;

/// Finds all segmentations of `text`, each with exp(alpha · Σ score), without a lattice.
void enumerate(const std::string& text, double alpha, const std::string& before, double weight,
               Counts& cuts) {
  if (text.empty()) {
    cuts[before] += weight;
    return;
  }
  const std::size_t character = decode_code_point(text).length;
  bool covered = false;
  const auto go_on = [&](std::size_t length, double score) {
    const std::string piece = text.substr(0, length);
    enumerate(text.substr(length), alpha, before + (before.empty() ? "" : " ") + piece,
              weight * std::exp(alpha * score), cuts);
  };
  for (const SentencePieceEntry& piece : few_pieces()) {
    const bool usable = piece.type == PieceType::normal || piece.type == PieceType::user_defined;
    if (!usable || !text.starts_with(piece.text)) continue;
    covered = covered || piece.text.size() == character;
    go_on(piece.text.size(), score_of(piece));
  }
  if (!covered) go_on(character, kUnknownScore);
}

}  // namespace

TEST_CASE("cuts come as often as their scores say, of all the cuts there are") {
  const SentencePieceUnigram unigram(small_model());
  for (const double alpha : {0.0, 0.2, 0.5, 1.0, 3.0}) {
    for (const std::string text : {"ababab", "babaéab", "axab", "xabé", "a"}) {
      CAPTURE(alpha);
      CAPTURE(text);
      Counts expected;
      enumerate(text, alpha, "", 1, expected);
      double sum = 0;
      for (const auto& [cut, weight] : expected) sum += weight;
      CHECK(unigram.log_sum(text, alpha) == doctest::Approx(std::log(sum)).epsilon(1e-6));

      constexpr int kSamples = 20000;
      RandomGenerator random(1, text, 0);
      Counts counts;
      for (int i = 0; i < kSamples; ++i) ++counts[joined(unigram.sample(text, alpha, random))];
      for (auto& [cut, weight] : expected) weight *= kSamples / sum;
      check_counts(counts, expected);
    }
  }
  RandomGenerator random(1, "", 0);
  CHECK(unigram.sample("", 0.5, random).empty());
  CHECK(unigram.log_sum("", 0.5) == 0);
}

TEST_CASE("unknown characters that follow each other are one piece, in a drawn cut, too") {
  const SentencePieceUnigram unigram(small_model());
  RandomGenerator random(1, "", 0);
  CHECK(joined(unigram.sample("é東京é", 0.5, random)) == "é 東京 é");
  SentencePieceModel model = small_model();
  model.byte_fallback = true;
  CHECK(joined(SentencePieceUnigram(model).sample("éä", 0.5, random)) == "é <0xC3> <0xA4>");
}

TEST_CASE("the larger alpha, the more often the best cut is drawn, and long texts are no trouble") {
  const SentencePieceProcessor model(read_file(kGolden + "joint/source.spm"), "joint");
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "The group went home after the long meeting. ";
  const std::string normalised = model.normalise(text);
  const std::vector<std::string> best = model.encode(text);
  RandomGenerator random(1, "", 0);
  CHECK(model.sample(normalised, 1000, random) == best);
  const std::vector<std::string> drawn = model.sample(normalised, 0.1, random);
  CHECK(drawn.size() > best.size());
  std::string together;
  for (const std::string& piece : drawn) together += piece;
  CHECK(together == normalised);
}

TEST_CASE("cuts come as often as SentencePiece's own sampling draws them") {
  const Json goldens = read_json_file(kSource + "/tests/golden/sampling.json");
  REQUIRE(goldens.size() == 13);
  for (const Json& golden : goldens) {
    const std::string file = golden["model"];
    const std::string text = golden["text"];
    const double sampling = golden["sampling"];
    CAPTURE(file);
    CAPTURE(text);
    const SentencePieceProcessor model(read_file(kGolden + file), file);
    const std::string normalised = model.normalise(text);
    RandomGenerator random(1, text, 0);
    Counts cuts;
    Counts lengths;
    const int samples = golden["samples"];
    for (int i = 0; i < samples; ++i) {
      const std::vector<std::string> pieces = model.sample(normalised, sampling, random);
      ++cuts[joined(pieces)];
      ++lengths[std::to_string(pieces.size())];
    }
    check_same(cuts, golden["cuts"].get<Counts>(), samples);
    check_same(lengths, golden["lengths"].get<Counts>(), samples);
  }
}

TEST_CASE("a byte-pair model that drops no merge cuts as the library does") {
  const Json goldens = read_json_file(kGolden + "goldens.json");
  for (const std::string file : {"separate/source.spm", "separate/target.spm"}) {
    const SentencePieceProcessor model(read_file(kGolden + file), file);
    RandomGenerator random(1, "", 0);
    std::size_t pieces = 0;
    for (const Json& one : goldens[0]["texts"]) {
      const std::string text = clean_text(one["text"].get<std::string>()).text;
      CAPTURE(text);
      const std::vector<std::string> expected = model.encode(text);
      CHECK(model.sample(model.normalise(text), 0, random) == expected);
      pieces += expected.size();
    }
    for (const char* side : {"/data/toy/train.en", "/data/toy/train.de"}) {
      for (const std::string& line : read_lines(kSource + side, TextRole::source)) {
        CHECK(model.sample(model.normalise(line), 0, random) == model.encode(line));
      }
    }
    CHECK(pieces > 2000);
  }
}

TEST_CASE("unused byte pairs are steps to longer ones, and come out as their parts") {
  RandomGenerator random(1, "", 0);
  const SentencePieceModel model = test::model_of({{"<unk>", 0, PieceType::unknown},
                                                   {"a", -9},
                                                   {"b", -9},
                                                   {"c", -9},
                                                   {"ab", -1, PieceType::unused},
                                                   {"abc", -2},
                                                   {"ba", -3, PieceType::control}});
  const SentencePieceBpe pairs(model);
  CHECK(joined(pairs.sample("abcababa", 0, random)) == "abc a b a b a");
  CHECK(joined(pairs.sample("xyab", 0, random)) == "xy a b");
  CHECK(pairs.sample("", 0.5, random).empty());
}

TEST_CASE("of byte pairs with equal scores the leftmost is merged") {
  RandomGenerator random(1, "", 0);
  const SentencePieceModel model = test::model_of(
      {{"<unk>", 0, PieceType::unknown}, {"a", -9}, {"b", -9}, {"aa", -1}, {"ab", -1}});
  const SentencePieceBpe pairs(model);
  CHECK(joined(pairs.sample("aaa", 0, random)) == "aa a");
  CHECK(joined(pairs.sample("aab", 0, random)) == "aa b");
}

TEST_CASE("models that cannot be sampled from are refused") {
  check_error([] { Tokenizer(kDemo).require_sampling(0.2, "x.json"); }, ExitCode::input,
              "x.json: tokenizer.sampling 0.2: source.spm has only one segmentation of a text");
  const Tokenizer pairs(kGolden + "separate");
  CHECK_NOTHROW(pairs.require_sampling(0.99, "x.json"));
  check_error([&] { pairs.require_sampling(1, "x.json"); }, ExitCode::input,
              "x.json: tokenizer.sampling 1: source.spm is a BPE model, where this is the "
              "probability of dropping a merge; use 0 (off) to below 1");
}

}  // namespace attn::test
