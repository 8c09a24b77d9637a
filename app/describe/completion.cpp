#include "describe/descriptions.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace attn {
namespace {

/// The kind of value that follows an option.
struct Value {
  enum class Kind { none, file, directory, words, text } kind = Kind::none;
  std::string words;  ///< separated by spaces
};

/// FILE and DIR complete paths; lower-case words and digits as in a|b|c complete these words.
Value value_of(const CLI::Option& option) {
  if (option.get_positional()) return {Value::Kind::file, ""};
  if (option.get_type_size() == 0 || option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  if (type == "FILE") return {Value::Kind::file, ""};
  if (type == "DIR") return {Value::Kind::directory, ""};
  const bool small = std::all_of(type.begin(), type.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '|';
  });
  if (!small || type.find('|') == type.npos) return {Value::Kind::text, ""};
  std::string words = type;
  std::replace(words.begin(), words.end(), '|', ' ');
  return {Value::Kind::words, words};
}

/// Returns the long names of an option.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// Returns the options without the positional arguments.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) options.push_back(option);
  }
  return options;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : std::string(between)) + word;
  return out;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

/// Quotes the text; characters in `special` get a backslash each.
std::string quoted(const std::string& text, std::string_view special, std::string_view quote) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += quote;
    } else {
      if (special.find(c) != special.npos) out += '\\';
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string options, values;
  for (const CLI::App* command : app.get_subcommands({})) {
    std::vector<std::string> all;
    for (const CLI::Option* option : options_of(*command)) {
      const std::vector<std::string> names = names_of(*option);
      all.insert(all.end(), names.begin(), names.end());
      const Value value = value_of(*option);
      if (value.kind == Value::Kind::none || value.kind == Value::Kind::file) continue;
      std::string reply = "return";
      if (value.kind == Value::Kind::words) reply = "words='" + value.words + "'";
      if (value.kind == Value::Kind::directory) reply = "action=-d";
      for (const std::string& name : names) {
        values += "    '" + command->get_name() + " " + name + "') " + reply + " ;;\n";
      }
    }
    options += "      " + command->get_name() + ") words='" + joined(all, " ") + "' ;;\n";
  }
  return "# bash completion for attn-demo, made from its command line.\n"
         "_attn_demo() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= "
         "action=-f\n"
         "  local command=${COMP_WORDS[1]}\n"
         "  COMPREPLY=()\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W '" +
         joined(command_names(app), " ") +
         " --help --version' -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  if [[ $command == help ]]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         joined(command_names(app), " ") +
         "' -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"$command $before\" in\n" +
         values +
         "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    case $command in\n" +
         options +
         "    esac\n"
         "  fi\n"
         "  if [[ -n $words ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  else\n"
         "    compopt -o filenames 2>/dev/null\n"
         "    mapfile -t COMPREPLY < <(compgen $action -- \"$word\")\n"
         "  fi\n"
         "}\n"
         "complete -F _attn_demo attn-demo\n";
}

std::string zsh_completion(const CLI::App& app) {
  const auto plain = [](const std::string& text) { return quoted(text, "[]:\\", "'\\''"); };
  std::string commands, cases;
  for (const CLI::App* command : app.get_subcommands({})) {
    commands += "    '" + command->get_name() + ":" + plain(command->get_description()) + "'\n";
    cases += "    " + command->get_name() + ")\n      _arguments -S";
    for (const CLI::Option* option : options_of(*command)) {
      const Value value = value_of(*option);
      std::string action;
      if (value.kind == Value::Kind::file) action = ":_files";
      if (value.kind == Value::Kind::directory) action = ":_files -/";
      if (value.kind == Value::Kind::words) action = ":(" + value.words + ")";
      if (value.kind == Value::Kind::text) action = ":";
      for (const std::string& name : names_of(*option)) {
        cases += " \\\n        '*" + name + "[" + plain(option->get_description()) + "]";
        if (!action.empty()) cases += ":" + plain(option->get_type_name()) + action;
        cases += "'";
      }
    }
    const bool takes_command = command->get_name() == "help";
    cases += std::string(" \\\n        '*:") +
             (takes_command ? "command:($names)" : "argument:_files") + "' ;;\n";
  }
  return "#compdef attn-demo\n"
         "# zsh completion for attn-demo, made from its command line.\n"
         "_attn_demo() {\n"
         "  local -a commands names\n"
         "  commands=(\n" +
         commands +
         "  )\n"
         "  names=(" +
         joined(command_names(app), " ") +
         ")\n"
         "  if ((CURRENT == 2)); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  local command=${words[2]}\n"
         "  shift words\n"
         "  ((CURRENT--))\n"
         "  case $command in\n" +
         cases +
         "  esac\n"
         "}\n"
         "_attn_demo \"$@\"\n";
}

std::string fish_completion(const CLI::App& app) {
  const auto plain = [](const std::string& text) { return quoted(text, "\\", "\\'"); };
  std::string out =
      "# fish completion for attn-demo, made from its command line.\ncomplete -c attn-demo -n "
      "__fish_use_subcommand -f\ncomplete -c attn-demo -n __fish_use_subcommand -l help -d 'Show "
      "this help and exit'\ncomplete -c attn-demo -n __fish_use_subcommand -l version -d 'Show the "
      "version and end'\n";
  for (const CLI::App* command : app.get_subcommands({})) {
    out += "complete -c attn-demo -n __fish_use_subcommand -a " + command->get_name() + " -d '" +
           plain(command->get_description()) + "'\n";
    const std::string of =
        "complete -c attn-demo -n '__fish_seen_subcommand_from " + command->get_name() + "'";
    for (const CLI::Option* option : options_of(*command)) {
      const Value value = value_of(*option);
      std::string rest;
      if (value.kind == Value::Kind::file) rest = " -r -F";
      if (value.kind == Value::Kind::directory) rest = " -x -a '(__fish_complete_directories)'";
      if (value.kind == Value::Kind::words) rest = " -x -a '" + value.words + "'";
      if (value.kind == Value::Kind::text) rest = " -x";
      for (const std::string& name : names_of(*option)) {
        out += of + " -l " + name.substr(2) + " -d '" + plain(option->get_description()) + "'" +
               rest + "\n";
      }
    }
  }
  return out + "complete -c attn-demo -n '__fish_seen_subcommand_from help' -f -a '" +
         joined(command_names(app), " ") + "'\n";
}

}  // namespace attn
