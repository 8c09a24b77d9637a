// Tests the bookkeeping of a sentence's beams with examples computed by hand; the goldens test
// whole searches.
#include "translate/search/beam_search.h"

#include <doctest/doctest.h>

#include <limits>

#include "base/at.h"
#include "check_error.h"
#include "model/transformer.h"
#include "translate/search/continuous_batch.h"
#include "translate/search/logits_processor.h"

using namespace attn;

namespace {

constexpr int kEnd = 0;

DecodeConfig two_beams(EarlyStopping early_stopping) {
  DecodeConfig decode;
  decode.num_beams = 2;
  decode.early_stopping = early_stopping;
  return decode;
}

/// Returns a search in which one hypothesis ends at once, and another at the second step while a
/// better one continues.
SentenceBeam after_two_steps(EarlyStopping early_stopping) {
  SentenceBeam beam(two_beams(early_stopping), {kEnd}, 10);
  const std::vector<SentenceBeam::Candidate> first{
      {-0.1F, 0, kEnd}, {-0.2F, 0, 5}, {-0.3F, 0, 6}, {-0.4F, 0, 7}};
  beam.advance(first, nullptr, 0);
  CHECK(!beam.done());
  CHECK(beam.running()[0].ids == std::vector<int>{5});
  CHECK(beam.running()[1].ids == std::vector<int>{6});
  const std::vector<SentenceBeam::Candidate> second{
      {-0.24F, 0, 8}, {-0.26F, 0, kEnd}, {-0.3F, 1, 9}, {-0.4F, 1, 8}};
  beam.advance(second, nullptr, 0);
  return beam;
}

}  // namespace

TEST_CASE("early stopping decides whether a full list of ended hypotheses is enough") {
  CHECK(after_two_steps(EarlyStopping::yes).done());
  // −0.24 / 2 is better than the worst finished one, −0.26 / 2, so the search continues.
  CHECK(!after_two_steps(EarlyStopping::no).done());
  CHECK(!after_two_steps(EarlyStopping::never).done());
}

TEST_CASE("ended hypotheses are ranked by score over length, and running beams know their parent") {
  const SentenceBeam beam = after_two_steps(EarlyStopping::no);
  const std::vector<SearchHypothesis> results = beam.results(2);
  REQUIRE(results.size() == 2);
  CHECK(results[0].ids == std::vector<int>{kEnd});
  CHECK(results[0].score == doctest::Approx(-0.1));
  CHECK(results[1].ids == std::vector<int>{5, kEnd});
  CHECK(results[1].score == doctest::Approx(-0.13));
  CHECK(beam.running()[0].ids == std::vector<int>{5, 8});
  CHECK(beam.running()[0].parent == 0);
  CHECK(beam.running()[1].ids == std::vector<int>{6, 9});
  CHECK(beam.running()[1].parent == 1);
}

TEST_CASE("an end among the spare candidates is no result") {
  SentenceBeam beam(two_beams(EarlyStopping::no), {kEnd}, 10);
  const std::vector<SentenceBeam::Candidate> candidates{
      {-0.1F, 0, 5}, {-0.2F, 0, 6}, {-0.3F, 0, kEnd}, {-0.4F, 0, 7}};
  beam.advance(candidates, nullptr, 0);
  CHECK(beam.results(2).empty());
}

TEST_CASE("at the last step everything ends") {
  SentenceBeam beam(two_beams(EarlyStopping::no), {kEnd}, 1);
  const std::vector<SentenceBeam::Candidate> candidates{
      {-0.1F, 0, 5}, {-0.2F, 0, 6}, {-0.3F, 0, kEnd}, {-0.4F, 0, 7}};
  beam.advance(candidates, nullptr, 0);
  CHECK(beam.done());
  CHECK(beam.results(2).size() == 2);
}

TEST_CASE("several tokens may end a translation, and none of them can be forbidden") {
  SentenceBeam beam(two_beams(EarlyStopping::yes), {kEnd, 6}, 10);
  const std::vector<SentenceBeam::Candidate> candidates{
      {-0.1F, 0, kEnd}, {-0.2F, 0, 6}, {-0.3F, 0, 5}, {-0.4F, 0, 7}};
  beam.advance(candidates, nullptr, 0);
  CHECK(beam.done());
  CHECK(beam.results(2).size() == 2);
  DecodeConfig decode;
  decode.bad_words_ids = {{6}, {5}};
  std::vector<float> row(10, 0.5F);
  LogitsProcessor(decode, {kEnd, 6}, 10).process({.produced = {}, .source = {}, .start = 9}, row);
  CHECK(row[6] == 0.5F);
  CHECK(row[5] < 0);
}

TEST_CASE("forbidden sequences match at the end of what was produced, start symbol included") {
  DecodeConfig decode;
  decode.bad_words_ids = {{3}, {7, 1, 4}, {9, 5}, {kEnd}};
  const LogitsProcessor processor(decode, {kEnd}, 10);
  const auto forbidden = [&](std::vector<int> produced) {
    std::vector<float> row(10, 0.0F);
    CHECK(processor.process({.produced = produced, .source = {}, .start = 9}, row).finite);
    std::vector<int> ids;
    for (int i = 0; i < 10; ++i) {
      if (at(row, i) < 0) ids.push_back(i);
    }
    return ids;
  };
  CHECK(forbidden({}) == std::vector<int>{3, 5});  // 9 is the start symbol
  CHECK(forbidden({7, 1}) == std::vector<int>{3, 4});
  CHECK(forbidden({1, 7}) == std::vector<int>{3});
  CHECK(forbidden({2, 9}) == std::vector<int>{3, 5});
}

TEST_CASE("NaN and infinity in a row of logits are seen, forbidden tokens are none") {
  for (const bool renormalise : {false, true}) {
    DecodeConfig decode;
    decode.bad_words_ids = {{3}};
    decode.renormalize_logits = renormalise;
    const LogitsProcessor processor(decode, {kEnd}, 40);
    const auto finite = [&](Index place, float value) {
      std::vector<float> row(40, 0.5F);
      at(row, place) = value;
      return processor.process({.produced = {}, .source = {}, .start = 9}, row).finite;
    };
    CHECK(finite(3, 0));
    for (const Index at : {0, 17, 39}) {
      CHECK(finite(at, 3e38F));
      CHECK(!finite(at, std::numeric_limits<float>::quiet_NaN()));
      CHECK(!finite(at, std::numeric_limits<float>::infinity()));
      CHECK(!finite(at, -std::numeric_limits<float>::infinity()));
    }
  }
}

TEST_CASE("scores that no float can hold are refused") {
  CHECK(hypothesis_score(-6.0F, 3, 2.0F) == doctest::Approx(-6.0 / 9));
  test::check_error([] { hypothesis_score(-6.0F, 10, 40.0F); }, ExitCode::input,
                    "length_penalty 40: 10 tokens ^ 40 is beyond a 32-bit float");
  test::check_error([] { hypothesis_score(-6.0F, 10, -40.0F); }, ExitCode::input,
                    "length_penalty -40: 10 tokens ^ -40 is beyond a 32-bit float");
  test::check_error([] { hypothesis_score(-6e37F, 10, -5.0F); }, ExitCode::input,
                    "a translation's score is -inf, with length_penalty -5");
}

TEST_CASE("ids outside the vocabulary are refused") {
  DecodeConfig decode;
  decode.bad_words_ids = {{10}};
  test::check_error([&] { LogitsProcessor(decode, {kEnd}, 10); }, ExitCode::input,
                    "id 10 is outside the vocabulary of 10");
  decode.bad_words_ids.clear();
  decode.forced_eos_token_id = 12;
  test::check_error([&] { LogitsProcessor(decode, {kEnd}, 10); }, ExitCode::input,
                    "forced_eos_token_id 12");
}

TEST_CASE("before the first step all beams are one row, which all rows of the second continue") {
  ModelConfig c;
  c.d_model = 16;
  c.encoder_layers = c.decoder_layers = 1;
  c.encoder_heads = c.decoder_heads = 2;
  c.encoder_ffn_dim = c.decoder_ffn_dim = 32;
  c.vocab_size = c.decoder_vocab_size = 3;  // so few tokens that later beams' candidates are needed
  c.pad_token_id = c.decoder_start_token_id = 2;
  const Transformer model = random_model(c, 5, default_backend());
  DecodeConfig decode;
  decode.num_beams = 4;
  const Ensemble models(model);
  const SearchRules rules(models, decode);
  const std::vector<int> source{1, 1, 0};
  const auto search = beam_search(rules, source, 5);
  EnsembleDecoder decoder(models);
  PackedTokens packed;
  packed.add(source);
  const SentenceRows place{decoder.add_sentences(packed, std::vector{search->size()}).front(), 0};
  StepInput rows;
  search->add_rows(place, rows);
  CHECK(rows.tokens == std::vector{2});
  decoder.step(rows.tokens, rows.parents, rows.slots);
  search->choose(decoder, 0);
  rows.clear();
  search->add_rows(place, rows);
  CHECK(rows.size() == 4);
  CHECK(rows.parents == std::vector<Index>(4, 0));
  decoder.step(rows.tokens, rows.parents, rows.slots);
  search->choose(decoder, 0);
  rows.clear();
  search->add_rows(place, rows);
  CHECK(rows.size() == 4);
}
