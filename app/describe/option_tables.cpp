#include "describe/descriptions.h"

#include <fmt/format.h>

#include "config/option_table.h"
#include "service/field_text.h"

namespace attn {
namespace {

/// Escapes bars, which end a cell in Markdown.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

/// Returns the option as it is typed, plus the server's name for it if that differs.
std::string names_of(const OptionSpec& option) {
  const std::string typed =
      option_name(option.name) + (is_flag(option) ? "" : " " + std::string(option.value_name));
  std::string names = "`" + cell(typed) + "`";
  if (!option.server_name.empty()) names += fmt::format(" (JSON: `{}`)", option.server_name);
  return names;
}

std::string places_of(const OptionSpec& option) {
  struct Place {
    unsigned bit;
    const char* name;
  };
  constexpr Place kPlaces[] = {
      {on_translate, "`translate`"}, {on_evaluate, "`evaluate`"}, {on_explain, "`explain`, `why`"},
      {on_serve, "`serve`"},         {in_python, "Python"},       {in_python_translate, "Python"},
      {on_server, "JSON"},           {in_library, "C++"}};
  std::string names;
  for (const Place& place : kPlaces) {
    const bool new_name = names.find(place.name) == names.npos;
    if ((option.places & place.bit) != 0 && new_name) {
      names += (names.empty() ? "" : ", ") + std::string(place.name);
    }
  }
  return names;
}

}  // namespace

std::string search_options_markdown() {
  std::string out = "| option | meaning | default | where |\n| --- | --- | --- | --- |\n";
  for (const OptionSpec& option : search_option_table()) {
    std::string meaning(option.help);
    if (!option.needs.empty()) {
      meaning = fmt::format("with `{}`: {}", option_name(option.needs), meaning);
    }
    out += fmt::format("| {} | {} | {} | {} |\n", names_of(option), cell(meaning),
                       cell(option.fallback), places_of(option));
  }
  return out;
}

}  // namespace attn
