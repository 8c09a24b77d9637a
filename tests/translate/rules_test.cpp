// Tests the rules that change scores before a token is chosen: each rule alone, and all of them
// against transformers' generate (tests/golden/make_rule_goldens.py).
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "check_error.h"
#include "golden_model.h"
#include "translate/search/logits_processor.h"
#include "translate/search/search.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr int kLast = 0, kStart = 9;
constexpr float kNever = -std::numeric_limits<float>::infinity();

/// Returns a row of ten equal logits after processing.
std::vector<float> processed(const DecodeConfig& decode, std::vector<int> produced,
                             std::vector<int> source = {}, float logit = 2.0F) {
  std::vector<float> row(10, logit);
  const LogitsProcessor processor(decode, {kLast}, 10);
  CHECK(processor.process({produced, source, kStart}, row).finite);
  return row;
}

std::vector<int> forbidden(const DecodeConfig& decode, std::vector<int> produced,
                           std::vector<int> source = {}) {
  const std::vector<float> row = processed(decode, std::move(produced), std::move(source));
  std::vector<int> ids;
  for (int i = 0; i < 10; ++i) {
    if (at(row, i) == kNever) ids.push_back(i);
  }
  return ids;
}

using Ids = std::vector<int>;

}  // namespace

TEST_CASE("no n-gram comes twice, the start symbol is part of the first one") {
  DecodeConfig decode;
  decode.no_repeat_ngram_size = 2;
  CHECK(forbidden(decode, {}).empty());
  CHECK(forbidden(decode, {1, 2, 1}) == Ids{2});
  CHECK(forbidden(decode, {1, 2, 1, 3, 1}) == Ids{2, 3});
  CHECK(forbidden(decode, {4, 9}) == Ids{4});
  decode.no_repeat_ngram_size = 1;
  CHECK(forbidden(decode, {1, 2}) == Ids{1, 2, 9});
  decode.no_repeat_ngram_size = 3;
  CHECK(forbidden(decode, {1, 2}).empty());
  CHECK(forbidden(decode, {1, 2, 3, 1, 2}) == Ids{3});
}

TEST_CASE("no n-gram of the source comes") {
  DecodeConfig decode;
  decode.encoder_no_repeat_ngram_size = 2;
  CHECK(forbidden(decode, {}, {1, 2, 1, 3}).empty());
  CHECK(forbidden(decode, {1}, {1, 2, 1, 3}) == Ids{2, 3});
  CHECK(
      forbidden(decode, {1}, {1, 77}).empty());  // a token that the target vocabulary does not have
  decode.encoder_no_repeat_ngram_size = 1;
  CHECK(forbidden(decode, {}, {4, 5}) == Ids{4, 5});
}

TEST_CASE("a translation is not shorter, and what is suppressed does not come") {
  DecodeConfig decode;
  decode.min_new_tokens = 2;
  CHECK(forbidden(decode, {5}) == Ids{kLast});
  CHECK(forbidden(decode, {5, 6}).empty());
  decode.min_new_tokens = 0;
  decode.suppress_tokens = {3, 4, 500};
  decode.begin_suppress_tokens = {6};
  CHECK(forbidden(decode, {}) == Ids{3, 4, 6});
  CHECK(forbidden(decode, {1}) == Ids{3, 4});
  decode.forced_bos_token_id = 1;  // the text then begins after that token
  CHECK(forbidden(decode, {1}) == Ids{3, 4, 6});
}

TEST_CASE(
    "repeated tokens lose by the sign of their logit, or of their log-probability with beams") {
  DecodeConfig decode;
  decode.repetition_penalty = 2.0F;
  CHECK(processed(decode, {3, 3})[3] == 1.0F);
  CHECK(processed(decode, {3}, {}, -2.0F)[3] == -4.0F);
  CHECK(processed(decode, {3})[kStart] == 1.0F);
  CHECK(processed(decode, {3})[4] == 2.0F);
  decode.num_beams = 2;
  const std::vector<float> row = processed(decode, {3, 3});
  CHECK(row[4] == doctest::Approx(-std::log(10.0)));
  CHECK(row[3] == 2 * row[4]);
}

TEST_CASE("biases add up where their sequences end the context") {
  DecodeConfig decode;
  decode.sequence_bias = {{{1, 2, 5}, 4.0F}, {{5}, 1.0F}, {{2, 5}, -3.0F}, {{9, 6}, 8.0F}};
  CHECK(processed(decode, {1, 2})[5] == 4.0F);
  CHECK(processed(decode, {2})[5] == 0.0F);
  CHECK(processed(decode, {})[5] == 3.0F);
  CHECK(processed(decode, {})[6] == 10.0F);
}

TEST_CASE("rules that cannot hold are refused") {
  DecodeConfig decode;
  decode.sequence_bias = {{{1, 10}, 1.0F}};
  check_error([&] { LogitsProcessor(decode, {kLast}, 10); }, ExitCode::input,
              "sequence_bias: id 10 is outside the vocabulary of 10");
  decode.sequence_bias.clear();
  decode.forced_bos_token_id = 4;
  decode.suppress_tokens = {4};
  check_error([&] { LogitsProcessor(decode, {kLast}, 10); }, ExitCode::input,
              "forced_bos_token_id 4 is one of suppress_tokens; no token would be left to choose");
}

TEST_CASE("searches under every rule find generate's tokens, alone and in a batch") {
  const Json golden = read_json_file(std::string(ATTN_SOURCE_DIR) + "/tests/golden/rules.json");
  std::size_t searches = 0;
  for (const auto& model_of : golden["models"].items()) {
    const std::string& name = model_of.key();
    const Json& cases = model_of.value();
    const LoadedModel model = load_model(golden_root() + "/" + name, default_backend());
    std::vector<int> other = {3, 4, 5, 6, 7, model.transformer.config().eos_token_id};
    for (const Json& c : cases) {
      CAPTURE(name);
      CAPTURE(c["source_ids"].dump());
      CAPTURE(c["options"].dump());
      std::vector<std::string> notes;
      DecodeOptions options = merge_decode_options(
          decode_options_from_directory(c["options"], "options", notes), model.decode);
      CHECK(notes.empty());
      options.num_return_sequences = std::min(2, options.num_beams.value());
      const DecodeConfig decode = resolve_decode_options(options, std::nullopt, name);
      const std::vector<int> source = ids_of(c["source_ids"]);
      const auto alone = search(model.transformer, pack({source}), decode);
      const auto batch = search(model.transformer, pack({other, source, other}), decode);
      const Json& expected = c["hypotheses"];
      REQUIRE(alone[0].size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(alone[0][i].ids == ids_of(expected[i]["ids"]));
        CHECK(batch[1][i].ids == alone[0][i].ids);
        CHECK(batch[1][i].score == alone[0][i].score);
        if (expected[i]["score"].is_null()) continue;
        CHECK(alone[0][i].score ==
              doctest::Approx(expected[i]["score"].get<double>()).epsilon(1e-5).scale(1));
      }
      ++searches;
    }
  }
  CHECK(searches > 300);
}
