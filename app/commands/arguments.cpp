#include "commands/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "analysis/show_selection.h"
#include "base/error.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"
#include "terminal/console.h"

namespace attn {

std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t low,
                          std::uint64_t high) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool plain = !text.empty() && text[0] >= '0' && text[0] <= '9' &&
                     (text.size() == 1 || text[0] != '0') && stop == end && error == std::errc();
  if (!plain || value < low || value > high) {
    throw UsageError("{} {}: expected a whole number from {} to {}, in plain decimals", option,
                     excerpt(text), low, high);
  }
  return value;
}

float parse_decimal(const std::string& option, const std::string& text, double low, double high) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (text.empty() || stop != end || error != std::errc() || !std::isfinite(value) || value < low ||
      value > high) {
    throw UsageError("{} {}: expected a decimal number from {} to {}", option, excerpt(text), low,
                     high);
  }
  return static_cast<float>(value);
}

DType parse_dtype(const std::string& option, const std::string& text) {
  if (text == "float32") return DType::f32;
  if (text == "float16") return DType::f16;
  if (text == "bfloat16") return DType::bf16;
  if (text == "int8") return DType::i8;
  throw UsageError("{} {}: expected float32, float16, bfloat16 or int8", option, excerpt(text));
}

bool are_single_words(const std::vector<std::string>& sentences) {
  return sentences.size() > 1 &&
         std::all_of(sentences.begin(), sentences.end(), [](const std::string& each) {
           return !each.empty() && each.find(' ') == each.npos;
         });
}

bool is_head_name(const std::string& text) {
  if (text.find(':') == text.npos) return false;
  try {
    parse_head_name(text);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

void add_color_to(CLI::App& command) {
  command.add_option("--color", "Colours: auto (on a terminal), always or never [auto]")
      ->type_name("auto|always|never")
      ->each([](const std::string& when) {
        if (when != "auto" && when != "always" && when != "never") {
          throw UsageError("--color {}: expected auto, always or never", excerpt(when));
        }
        choose_color(when == "always"  ? ColorChoice::always
                     : when == "never" ? ColorChoice::never
                                       : ColorChoice::automatic);
      });
}

void refuse_empty_values(CLI::App& command, const std::vector<std::string>& allowed) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_items_expected_max() == 0 ||
        std::find(allowed.begin(), allowed.end(), option->get_name()) != allowed.end()) {
      continue;
    }
    const std::string type = option->get_type_name();
    const bool whole = type == "N" || type == "K" || type == "H" || type == "L";
    const std::string expected = whole         ? "a whole number, in plain decimals"
                                 : type == "A" ? "a decimal number"
                                               : type + " (" + option->get_description() + ")";
    option->check(CLI::Validator(
        [expected](const std::string& value) {
          return value.empty() ? "the value is empty; expected " + expected : std::string();
        },
        ""));
  }
}

}  // namespace attn
