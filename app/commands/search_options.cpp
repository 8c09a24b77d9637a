#include "commands/search_options.h"

#include <fmt/format.h>

#include <string>
#include <type_traits>
#include <variant>

#include "commands/arguments.h"
#include "service/term_list.h"

namespace attn {
namespace {

/// Returns the option's description. It begins with "With --sample: …" if it needs that option, and
/// ends with the default, as in "[32]", unless that depends on the model.
std::string help_of(const OptionSpec& option) {
  std::string help(option.help);
  if (!option.needs.empty()) help = "With " + option_name(option.needs) + ": " + help;
  const bool fixed = !is_flag(option) && !option.fallback.starts_with("the model's");
  return fixed ? help + fmt::format(" [{}]", option.fallback) : help;
}

/// Adds --terms FILE, whose lines are values of --term.
void add_terms_file(CLI::App& command, SearchOptions& options, const OptionSpec& term) {
  command
      .add_option_function<std::string>(
          "--terms",
          [&options](const std::string& path) {
            const std::vector<std::string> read = read_terms(path);
            options.terms.insert(options.terms.end(), read.begin(), read.end());
          },
          "Read terms from FILE: one per line, SRC<tab>TGT or SRC<tab>TGT1|TGT2")
      ->trigger_on_parse()
      ->type_name("FILE")
      ->group(std::string(term.group));
}

}  // namespace

void add_search_options(CLI::App& command, SearchOptions& options, OptionPlace place) {
  for (const OptionSpec* option : search_options_at(place)) {
    const std::string name = option_name(option->name);
    CLI::Option* added = std::visit(
        [&](auto member) -> CLI::Option* {
          auto& value = options.*member;
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, bool>) {
            return command.add_flag(name, value, help_of(*option));
          } else {
            return command.add_option(name, value, help_of(*option));
          }
        },
        option->member);
    if (is_whole(*option)) check_whole(*added, whole_field(*option));
    if (is_decimal(*option)) check_decimal(*added, decimal_field(*option));
    if (is_list(*option)) added->take_all()->allow_extra_args(false);
    if (!option->choices.empty()) {
      added->check([option](const std::string& text) {
        if (text.empty()) return std::string();  // rejected as an empty value
        SearchOptions unused;
        read_option(unused, *option, text);
        return std::string();
      });
    }
    added->group(std::string(option->group));
    if (!is_flag(*option)) added->type_name(std::string(option->value_name));
    if (option->name == "term") add_terms_file(command, options, *option);
  }
}

}  // namespace attn
