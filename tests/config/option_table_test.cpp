// Tests the table of search options, from which every front end is derived.
#include "config/option_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "config/attention_site.h"
#include "config/experiment.h"

using namespace attn;

TEST_CASE("every row of the table is complete, and no two share a name") {
  std::set<std::string_view> names;
  for (const OptionSpec& option : search_option_table()) {
    CAPTURE(option.name);
    CHECK(names.insert(option.name).second);
    CHECK(option.places != 0);
    CHECK(!option.help.empty());
    CHECK(!option.group.empty());
    CHECK(!option.fallback.empty());
    CHECK(option.value_name.empty() == is_flag(option));
    if (is_whole(option)) CHECK(option.low < option.high);
    if (is_decimal(option)) CHECK(option.decimal_low < option.decimal_high);
    if (!option.needs.empty()) CHECK(search_option(option.needs).name == option.needs);
  }
  for (const OptionSpec& option : search_option_table()) {
    for (const std::string_view name : split_at(option.other_names, ' ')) {
      if (!name.empty()) CHECK_MESSAGE(names.insert(name).second, name);
    }
  }
  CHECK(search_option_called("num_beams") == &search_option("beam"));
  CHECK(search_option_called("beam_siz") == nullptr);
}

TEST_CASE("a value is stored in the option's own member, and only there") {
  for (const OptionSpec& option : search_option_table()) {
    CAPTURE(option.name);
    SearchOptions options;
    CHECK(!is_given(options, option));
    const auto value = std::max<std::uint64_t>(option.low, 1);
    if (is_whole(option)) set_whole(options, option, value);
    if (is_decimal(option)) set_decimal(options, option, option.decimal_high);
    if (is_flag(option)) set_flag(options, option, true);
    if (!is_whole(option) && !is_decimal(option) && !is_flag(option)) {
      set_text(options, option, "never");
    }
    CHECK(is_given(options, option));
    if (is_whole(option)) CHECK(whole_in(options, option) == value);
    if (is_decimal(option)) CHECK(decimal_in(options, option) == option.decimal_high);
    for (const OptionSpec& other : search_option_table()) {
      if (other.member != option.member) CHECK(!is_given(options, other));
    }
  }
}

TEST_CASE("the keys of experiment files are known without one") {
  const std::vector<std::string> keys = experiment_keys();
  for (const char* key : {"train.updates", "train.learning_rate", "model.d_model",
                          "decode.num_beams", "tokenizer.vocab_size", "data.train"}) {
    CHECK_MESSAGE(std::ranges::count(keys, key) > 0, key);
  }
}
