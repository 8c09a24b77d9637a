// Tests that errors carry the field's name, and that each front end words it.
#include "service/field_text.h"

#include <doctest/doctest.h>

#include <cmath>

#include "service/model/model_choice.h"
#include "service/option_values.h"
#include "service/search_settings.h"

using namespace attn;

namespace {

/// Returns the error of an action in the program's words, and what() of the error.
template <typename Action>
std::pair<std::string, std::string> refused(Action&& action) {
  try {
    action();
  } catch (const UsageError& error) {
    return {message_for(error, option_name), error.what()};
  }
  return {};
}

}  // namespace

TEST_CASE("a text words its fields and nothing else") {
  const FieldText text(Field{"n_best"}, " 3: {n_best} --n-best; raise ", Field{"beam"});
  CHECK(text.plain() == "n_best 3: {n_best} --n-best; raise beam");
  CHECK(text.message_for(option_name) == "--n-best 3: {n_best} --n-best; raise --beam");
  CHECK(FieldText().empty());
}

TEST_CASE("a field comes before what a library refuses, and keeps the fields inside") {
  const auto inner = [] { throw UsageError("cross:9: layer 9 is asked for"); };
  CHECK(refused([&] { for_field("align_least", inner); }) ==
        std::pair{std::string("--align-least cross:9: layer 9 is asked for"),
                  std::string("align_least cross:9: layer 9 is asked for")});
  CHECK(refused([&] {
          for_field("force", [] { refuse_field("x: off by ", Field{"without"}); });
        }).first == "--force x: off by --without");
  CHECK_THROWS_AS(for_field("force", [] { throw InputError("no"); }), InputError);
  CHECK_THROWS_AS(for_field<SystemError>("csv", [] { throw SystemError("no"); }), SystemError);
}

TEST_CASE("numbers out of range are refused alike as numbers and as text") {
  const WholeField beam_field = whole_field(search_option("beam"));
  const DecimalField length_penalty_field = decimal_field(search_option("length_penalty"));
  const std::string expected = " 0: expected a whole number from 1 to 1000, in plain decimals";
  CHECK(refused([&] { checked_whole(beam_field, 0); }).second == "beam" + expected);
  CHECK(refused([&] { parse_whole(beam_field, "0"); }).first == "--beam" + expected);
  CHECK(refused([&] { checked_whole(beam_field, -1); }).first.starts_with("--beam -1: expected"));
  CHECK(checked_whole(beam_field, 1000) == 1000);
  for (const double none : {101.0, std::nan(""), HUGE_VAL}) {
    CHECK(refused([&] {
            checked_decimal(length_penalty_field, none);
          }).first.starts_with("--length-penalty "));
  }
}

TEST_CASE("settings of a search are checked wherever they come from") {
  SearchOptions options;
  CHECK(!decode_options(options).num_beams);
  options.beam = 4;
  options.max_length = 9;
  CHECK(decode_options(options).num_beams == 4);
  CHECK(decode_options(options).max_length == 10);  // generate also counts the start symbol
  options.n_best = 1001;
  CHECK(refused([&] { decode_options(options); }).second.starts_with("n_best 1001: expected"));
  options.n_best = -1;
  CHECK(refused([&] { decode_options(options); }).second.starts_with("n_best -1: expected"));
  options = {};
  options.top_p = 0.5;
  CHECK(refused([&] { decode_options(options); }).first == "--top-p needs --sample");
  options.sample = true;
  options.beam = 2;
  CHECK(refused([&] { decode_options(options); }).first ==
        "--sample chooses one token at a time; --beam 2 cannot be combined with it");
  options = {};
  options.early_stopping = "yes";
  CHECK(refused([&] { decode_options(options); }).first ==
        "--early-stopping yes: expected true, false or never");
}

TEST_CASE("two sources of a model exclude each other") {
  ModelChoice choice;
  choice.models = {"a"};
  choice.check_one_source();
  choice.seed = 7;
  CHECK(refused([&] { choice.check_one_source(); }) ==
        std::pair{std::string("--seed makes random weights; --model a brings its own"),
                  std::string("seed makes random weights; model a brings its own")});
  choice.config = "b";
  CHECK(refused([&] { choice.check_one_source(); }).first ==
        "--model, --config and --preset exclude each other; give one of them");
}
