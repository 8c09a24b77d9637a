#include "config/decode_config.h"

#include <doctest/doctest.h>

#include "check_error.h"

using attn::DecodeConfig;
using attn::DecodeOptions;
using attn::EarlyStopping;
using attn::ExitCode;
using attn::test::check_error;

namespace {

DecodeOptions read_decode(const std::string& text, std::vector<std::string>& notes) {
  return attn::decode_options_from_directory(attn::parse_json(text, "g.json"), "g.json", notes);
}

DecodeOptions read_decode(const std::string& text) {
  std::vector<std::string> notes;
  return read_decode(text, notes);
}

DecodeOptions decode_of_experiment(const std::string& text) {
  return attn::decode_options_from_experiment(attn::parse_json(text, "x.json"), "x.json");
}

void refuse_decode(const std::string& text, const std::string& message) {
  check_error([&] { read_decode(text); }, ExitCode::input, message);
}

void refuse_resolved(const std::string& text, const std::string& message) {
  check_error([&] { attn::resolve_decode_options(read_decode(text), 0, "g.json"); },
              ExitCode::input, message);
}

}  // namespace

TEST_CASE("generation options of a directory") {
  const DecodeOptions options = read_decode(R"({"num_beams": 6, "num_return_sequences": 2,
      "length_penalty": 0.6, "early_stopping": "never", "max_length": 512,
      "bad_words_ids": [[58100], [3, 4]], "forced_eos_token_id": 0, "renormalize_logits": true})");
  CHECK(options.num_beams == 6);
  CHECK(options.num_return_sequences == 2);
  CHECK(options.length_penalty == 0.6F);
  CHECK(options.early_stopping == EarlyStopping::never);
  CHECK(options.max_length == 512);
  CHECK(options.bad_words_ids == std::vector<std::vector<int>>{{58100}, {3, 4}});
  REQUIRE(options.forced_eos_token_id.has_value());
  CHECK(*options.forced_eos_token_id == 0);
  CHECK(options.renormalize_logits == true);
}

TEST_CASE("null says nothing, except that it switches forcing off") {
  const DecodeOptions options = read_decode(R"({"num_beams": null, "early_stopping": null,
      "length_penalty": null, "bad_words_ids": null, "forced_eos_token_id": null})");
  CHECK_FALSE(options.num_beams.has_value());
  CHECK_FALSE(options.early_stopping.has_value());
  CHECK_FALSE(options.length_penalty.has_value());
  CHECK_FALSE(options.bad_words_ids.has_value());
  REQUIRE(options.forced_eos_token_id.has_value());
  CHECK_FALSE(options.forced_eos_token_id->has_value());
  CHECK_FALSE(attn::resolve_decode_options(options, 0, "x").forced_eos_token_id.has_value());
  CHECK(attn::resolve_decode_options(read_decode("{}"), 0, "x").forced_eos_token_id == 0);
  CHECK(attn::resolve_decode_options(read_decode(R"({"forced_eos_token_id": [5]})"), 0, "x")
            .forced_eos_token_id == 5);
}

TEST_CASE("max_new_tokens wins over max_length, which counts the start symbol") {
  CHECK(attn::resolve_decode_options(read_decode(R"({"max_length": 20})"), 0, "x").max_new_tokens ==
        19);
  CHECK(attn::resolve_decode_options(read_decode(R"({"max_length": 20, "max_new_tokens": 7})"), 0,
                                     "x")
            .max_new_tokens == 7);
  CHECK(attn::resolve_decode_options(read_decode("{}"), 0, "x").max_new_tokens == 0);
}

TEST_CASE("wrong types are refused") {
  refuse_decode(R"({"num_beams": 2.5})", "g.json: num_beams is 2.5; expected an integer");
  refuse_decode(R"({"num_beams": "4"})", "num_beams is \"4\"; expected an integer");
  refuse_decode(R"({"early_stopping": "yes"})",
                "early_stopping is \"yes\"; expected true, false or \"never\"");
  refuse_decode(R"({"early_stopping": 1})", "early_stopping is 1; expected true");
  refuse_decode(R"({"length_penalty": true})", "length_penalty is true; expected a number");
  refuse_decode(R"({"length_penalty": 1e200})", "length_penalty is beyond the range of a float");
  refuse_decode(R"({"bad_words_ids": [5]})", "bad_words_ids is [5]; expected a list of lists");
  refuse_decode(R"({"bad_words_ids": [[]]})", "bad_words_ids is [[]]; expected a list of lists");
  refuse_decode(R"({"bad_words_ids": [[-1]]})",
                "bad_words_ids is [[-1]]; expected a list of lists");
  refuse_decode(R"({"forced_eos_token_id": "0"})",
                "forced_eos_token_id is \"0\"; expected a token id");
  refuse_decode(R"({"renormalize_logits": 0})", "renormalize_logits is 0; expected true or false");
  refuse_decode(R"({"max_new_tokens": 0})", "max_new_tokens is 0; use 1 or more");
  refuse_decode("3", "g.json: expected a JSON object");
}

TEST_CASE("a forced first token is read as a forced last one is") {
  std::vector<std::string> notes;
  const auto read = read_decode(R"({"forced_bos_token_id": 4})", notes);
  CHECK(attn::resolve_decode_options(read, 0, "g.json").forced_bos_token_id == 4);
  CHECK_FALSE(attn::resolve_decode_options({}, 0, "g.json").forced_bos_token_id.has_value());
  refuse_decode(R"({"forced_bos_token_id": -1})",
                "forced_bos_token_id is -1; expected a token id or null");
}

TEST_CASE("keys that would change results are noted, others are not") {
  std::vector<std::string> notes;
  read_decode(R"({"do_sample": true, "diversity_penalty": 1.2, "penalty_alpha": 0.6,
      "encoder_repetition_penalty": 1.5, "forced_bos_token_id": 4, "num_beam_groups": 2})",
              notes);
  REQUIRE(notes.size() == 5);
  CHECK(notes[0].find("g.json: do_sample true is not supported and ignored") == 0);
  notes.clear();
  read_decode(R"({"do_sample": false, "repetition_penalty": 1.0, "no_repeat_ngram_size": 0,
      "min_length": 0, "suppress_tokens": null, "begin_suppress_tokens": [], "temperature": 0.7,
      "transformers_version": "5.23.0", "forced_bos_token_id": null, "num_beam_groups": 1})",
              notes);
  CHECK(notes.empty());
}

TEST_CASE("rules on scores are read, min_length in tokens behind the start symbol") {
  std::vector<std::string> notes;
  const DecodeOptions read = read_decode(
      R"({"no_repeat_ngram_size": 3, "encoder_no_repeat_ngram_size": 4, "repetition_penalty": 1.2,
          "min_length": 56, "suppress_tokens": [7, -1], "begin_suppress_tokens": [8],
          "sequence_bias": [[[5, 6], 2], [[7], 1.5], [[5, 6], -2.5]]})",
      notes);
  CHECK(notes.empty());
  const DecodeConfig config =
      attn::resolve_decode_options(attn::merge_decode_options({}, read), 0, "x");
  CHECK(config.no_repeat_ngram_size == 3);
  CHECK(config.encoder_no_repeat_ngram_size == 4);
  CHECK(config.repetition_penalty == 1.2F);
  CHECK(config.min_new_tokens == 55);
  CHECK(config.suppress_tokens == std::vector<int>{7});
  CHECK(config.begin_suppress_tokens == std::vector<int>{8});
  CHECK(config.sequence_bias == std::vector<attn::SequenceBias>{{{5, 6}, -2.5F}, {{7}, 1.5F}});
  CHECK(read_decode(R"({"min_length": 0})").min_new_tokens == 0);
  CHECK(read_decode(R"({"min_length": 9, "min_new_tokens": 2})").min_new_tokens == 2);
}

TEST_CASE("rules on scores that make no sense are refused") {
  refuse_decode(R"({"no_repeat_ngram_size": -2})",
                "no_repeat_ngram_size is -2; use 0 (off) or more");
  refuse_decode(R"({"min_length": -1})", "min_length is -1; use 0 (any length) or more");
  refuse_decode(R"({"repetition_penalty": 0})",
                "repetition_penalty is 0; use a number above 0, 1 for no penalty");
  refuse_decode(R"({"repetition_penalty": 1e300})", "repetition_penalty is 1e+300");
  refuse_decode(R"({"suppress_tokens": 3})", "suppress_tokens is 3; expected a list of token ids");
  refuse_decode(R"({"begin_suppress_tokens": ["a"]})", "expected a list of token ids");
  const char* biases = "expected a list of ids with a bias each, such as [[[17, 4], -2.5]]";
  for (const char* wrong : {"{}", "[[5, 1.0]]", "[[[], 1.0]]", "[[[5], \"a\"]]", "[[[-5], 1.0]]"}) {
    refuse_decode(std::string(R"({"sequence_bias": )") + wrong + "}", biases);
  }
  refuse_decode(R"({"sequence_bias": [[[5], 1e60]]})", "holds a bias beyond the range of a float");
}

TEST_CASE("an experiment's decode section is strict") {
  CHECK(decode_of_experiment(R"({"num_beams": 4})").num_beams == 4);
  check_error([] { decode_of_experiment(R"({"num_beam": 4})"); }, ExitCode::input,
              "x.json: unknown key \"num_beam\" in decode; the nearest known one is \"num_beams\"");
  check_error([] { decode_of_experiment(R"({"num_beams": true})"); }, ExitCode::input,
              "x.json: decode.num_beams is true; expected an integer");
}

TEST_CASE("merge keeps what the stronger says") {
  const DecodeOptions merged = attn::merge_decode_options(
      read_decode(R"({"num_beams": 2, "forced_eos_token_id": null})"),
      read_decode(R"({"num_beams": 5, "length_penalty": 2, "forced_eos_token_id": 1,
                           "early_stopping": true, "max_length": 9, "bad_words_ids": [[1]],
                           "renormalize_logits": true, "num_return_sequences": 2})"));
  DecodeOptions ends;
  ends.eos_token_ids = {{3, 4}};
  CHECK(attn::resolve_decode_options(attn::merge_decode_options(merged, ends), 0, "x")
            .eos_token_ids == std::vector<int>{3, 4});
  CHECK_FALSE(attn::resolve_decode_options(merged, 0, "x").eos_token_ids.has_value());
  CHECK(merged.num_beams == 2);
  CHECK(merged.length_penalty == 2.0F);
  CHECK_FALSE(merged.forced_eos_token_id->has_value());
  CHECK(merged.early_stopping == EarlyStopping::yes);
  CHECK(merged.max_length == 9);
  CHECK(merged.bad_words_ids->size() == 1);
  CHECK(merged.renormalize_logits == true);
  CHECK(merged.num_return_sequences == 2);
}

TEST_CASE("ranges are checked when options are resolved") {
  refuse_resolved(R"({"num_beams": 0})", "g.json: num_beams 0 is out of range; use 1 to 1000");
  refuse_resolved(R"({"num_beams": -1})", "num_beams -1 is out of range");
  refuse_resolved(R"({"num_beams": 1001})", "num_beams 1001 is out of range");
  refuse_resolved(R"({"num_beams": 4, "num_return_sequences": 5})",
                  "num_return_sequences 5 is out of range; with num_beams 4 use 1 to 4");
  refuse_resolved(R"({"num_return_sequences": 2})", "with num_beams 1 use 1");
  refuse_resolved(R"({"num_return_sequences": 0})", "num_return_sequences 0 is out of range");
  refuse_resolved(R"({"max_length": 1})", "max_length 1 leaves no token to produce");
  const DecodeConfig config = attn::resolve_decode_options(read_decode("{}"), 0, "x");
  CHECK(config.num_beams == 1);
  CHECK(config.length_penalty == 1.0F);
  CHECK(config.early_stopping == EarlyStopping::no);
  CHECK_FALSE(config.renormalize_logits);
}

TEST_CASE("how long a source the model has learned") {
  CHECK_FALSE(read_decode("{}").longest_source.has_value());
  CHECK(attn::resolve_decode_options(read_decode("{}"), 0, "g.json").longest_source == 0);
  const DecodeOptions options = read_decode(R"({"longest_source": 40})");
  CHECK(options.longest_source == 40);
  CHECK(attn::resolve_decode_options(attn::merge_decode_options({}, options), 0, "g.json")
            .longest_source == 40);
  CHECK(decode_of_experiment(R"({"longest_source": 40})").longest_source == 40);
  refuse_decode(R"({"longest_source": 1})",
                "g.json: longest_source is 1; it counts the end symbol, so use 2 or more tokens");
  refuse_decode(R"({"longest_source": "long"})",
                "g.json: longest_source is \"long\"; expected an integer");
}
