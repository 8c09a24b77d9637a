#include "service/option_values.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/strings/utf8.h"
#include "service/field_text.h"

namespace attn {

void refuse_value(const WholeField& field, std::string_view shown) {
  refuse_field(Field{field.name},
               fmt::format(" {}: expected a whole number from {} to {}, in plain decimals",
                           excerpt(shown), field.low, field.high));
}

void refuse_value(const DecimalField& field, std::string_view shown) {
  refuse_field(Field{field.name}, fmt::format(" {}: expected a decimal number from {} to {}",
                                              excerpt(shown), field.low, field.high));
}

std::uint64_t parse_whole(const WholeField& field, const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool plain = !text.empty() && text[0] >= '0' && text[0] <= '9' &&
                     (text.size() == 1 || text[0] != '0') && stop == end && error == std::errc();
  if (!plain || value < field.low || value > field.high) refuse_value(field, text);
  return value;
}

float parse_decimal(const DecimalField& field, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const bool whole = !text.empty() && stop == end && error == std::errc();
  if (!whole || !(value >= field.low && value <= field.high)) refuse_value(field, text);
  return static_cast<float>(value);
}

int checked_whole(const WholeField& field, std::int64_t number) {
  const bool fits = number >= 0 && static_cast<std::uint64_t>(number) >= field.low &&
                    static_cast<std::uint64_t>(number) <= field.high;
  if (!fits) refuse_value(field, std::to_string(number));
  return static_cast<int>(number);
}

float checked_decimal(const DecimalField& field, double number) {
  if (!(number >= field.low && number <= field.high)) {
    refuse_value(field, fmt::format("{}", number));
  }
  return static_cast<float>(number);
}

WholeField whole_field(const OptionSpec& option) {
  return {option.name, option.low, option.high};
}

DecimalField decimal_field(const OptionSpec& option) {
  return {option.name, option.decimal_low, option.decimal_high};
}

namespace {

void check_choice(const OptionSpec& option, const std::string& text) {
  if (option.choices.empty() || std::ranges::find(option.choices, text) != option.choices.end()) {
    return;
  }
  std::string expected;
  for (std::size_t i = 0; i < option.choices.size(); ++i) {
    const bool last = i + 1 == option.choices.size();
    expected += (i == 0 ? "" : last ? " or " : ", ") + std::string(option.choices[i]);
  }
  refuse_field(Field{option.name}, " " + excerpt(text), ": expected " + expected);
}

void check_range(const OptionSpec& option, const SearchOptions& given) {
  const bool any = option.high == ~std::uint64_t{0};
  if (const auto number = whole_in(given, option); number && !any) {
    checked_whole(whole_field(option), static_cast<std::int64_t>(*number));
  }
  if (const auto number = decimal_in(given, option)) {
    checked_decimal(decimal_field(option), *number);
  }
}

/// Checks conditions that a front end's own types do not enforce.
void check(const SearchOptions& given) {
  for (const OptionSpec& option : search_option_table()) {
    if (!is_given(given, option)) continue;
    check_range(option, given);
    if (!option.needs.empty()) {
      const OptionSpec& needed = search_option(option.needs);
      if (!is_given(given, needed)) {
        refuse_field(Field{option.name}, " needs ", Field{needed.name});
      }
    }
  }
  if (!given.early_stopping.empty()) {
    check_choice(search_option("early_stopping"), given.early_stopping);
  }
  check_choice(search_option("split"), given.split);
  if (given.sample && given.beam.value_or(1) != 1) {
    refuse_field(Field{"sample"}, " chooses one token at a time; ", Field{"beam"},
                 fmt::format(" {} cannot be combined with it", *given.beam));
  }
}

std::optional<EarlyStopping> early_stopping_of(const std::string& word) {
  if (word == "true") return EarlyStopping::yes;
  if (word == "false") return EarlyStopping::no;
  if (word == "never") return EarlyStopping::never;
  return std::nullopt;
}

std::optional<float> as_float(const std::optional<double>& number) {
  return number ? std::optional(static_cast<float>(*number)) : std::nullopt;
}

}  // namespace

void read_option(SearchOptions& options, const OptionSpec& option, const std::string& text) {
  if (is_whole(option)) {
    set_whole(options, option, parse_whole(whole_field(option), text));
  } else if (is_decimal(option)) {
    set_decimal(options, option, parse_decimal(decimal_field(option), text));
  } else if (is_flag(option)) {
    set_flag(options, option, true);
  } else {
    check_choice(option, text);
    set_text(options, option, text);
  }
}

DecodeOptions decode_options(const SearchOptions& given) {
  check(given);
  DecodeOptions d;
  d.num_beams = given.beam;
  d.num_return_sequences = given.n_best;
  d.length_penalty = as_float(given.length_penalty);
  d.early_stopping = early_stopping_of(given.early_stopping);
  // max_length counts the produced tokens with the end symbol; `generate` counts the start symbol
  // as well.
  if (given.max_length) d.max_length = *given.max_length + 1;
  d.min_new_tokens = given.min_length;
  d.no_repeat_ngram_size = given.no_repeat_ngram;
  d.encoder_no_repeat_ngram_size = given.encoder_no_repeat_ngram;
  d.repetition_penalty = as_float(given.repetition_penalty);
  if (given.sample) d.do_sample = true;
  d.temperature = as_float(given.temperature);
  d.top_k = given.top_k;
  d.top_p = as_float(given.top_p);
  d.min_p = as_float(given.min_p);
  d.typical_p = as_float(given.typical);
  d.sampling_seed = given.sample_seed;
  return d;
}

}  // namespace attn
