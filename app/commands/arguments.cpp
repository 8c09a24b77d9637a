#include "commands/arguments.h"
#include "commands/help.h"

#include <algorithm>

#include "analysis/map_selection.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "terminal/console.h"

namespace attn {
namespace {

constexpr const char* kEmptyValue = "the value is empty; expected ";
constexpr const char* kWholeNumber = "a whole number, in plain decimals";
constexpr const char* kDecimalNumber = "a decimal number";

}  // namespace

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
      })
      ->group(help_group::terminal);
}

CLI::Option* check_whole(CLI::Option& option, WholeField field) {
  return option.check([field](const std::string& text) {
    if (text.empty()) return std::string(kEmptyValue) + kWholeNumber;
    parse_whole(field, text);
    return std::string();
  });
}

CLI::Option* check_decimal(CLI::Option& option, DecimalField field) {
  return option.check([field](const std::string& text) {
    if (text.empty()) return std::string(kEmptyValue) + kDecimalNumber;
    parse_decimal(field, text);
    return std::string();
  });
}

void refuse_empty_values(CLI::App& command, const std::vector<std::string>& allowed) {
  for (CLI::Option* option : command.get_options()) {
    if (option->get_positional() || option->get_items_expected_max() == 0 ||
        std::find(allowed.begin(), allowed.end(), option->get_name()) != allowed.end()) {
      continue;
    }
    const std::string expected = option->get_type_name() + " (" + option->get_description() + ")";
    option->check(CLI::Validator(
        [expected](const std::string& value) {
          return value.empty() ? kEmptyValue + expected : std::string();
        },
        ""));
  }
}

}  // namespace attn
