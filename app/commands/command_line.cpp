#include "commands/command_line.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "commands/help.h"
#include "commands/other_options.h"
#include "compute/kernels/kernels.h"
#include "config/experiment.h"
#include "config/key_reader.h"
#include "config/option_table.h"
#include "files/output_file.h"
#include "service/field_text.h"

namespace attn {
namespace {

struct Command {
  std::string_view name;
  void (*add)(CLI::App& app, Run& run);
};
constexpr std::array<Command, 11> kCommands = {{{"translate", add_translate},
                                                {"explain", add_explain},
                                                {"why", add_why},
                                                {"page", add_page},
                                                {"train", add_train},
                                                {"init", add_init},
                                                {"convert", add_convert},
                                                {"inspect", add_inspect},
                                                {"evaluate", add_evaluate},
                                                {"tokenizer", add_tokenizer},
                                                {"serve", add_serve}}};

/// True if one word looks like a typo of the other.
bool alike(const std::string& typed, const std::string& known) {
  if (typed.size() >= 4 && known.starts_with(typed)) return true;
  return edit_distance(typed, known) <= std::max<std::size_t>(1, (typed.size() + 1) / 3);
}

/// Returns an option's name as a config key: max_length for --max-length and --max_length.
std::string key_of(std::string_view option) {
  std::string key(option.substr(std::min(option.size(), option.find_first_not_of('-'))));
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

bool has_option(const CLI::App& command, const std::string& name) {
  return command.get_option_no_throw(name) != nullptr;
}

/// True if `part` names a config key: in full, by its beginning or end, or by its initials, as lr
/// does learning_rate.
bool names_key(const std::string& part, const std::string& key) {
  std::string initials(1, key[0]);
  for (std::size_t i = 1; i < key.size(); ++i) {
    if (key[i - 1] == '_') initials += key[i];
  }
  return key == part || key.starts_with(part + "_") || key.ends_with("_" + part) ||
         (part.size() > 1 && initials == part);
}

/// Returns "--set train.updates=N sets it" if experiment files have such a key.
std::string hint_for_key(const std::string& typed) {
  if (typed == "model") return "";  // a section, not a key
  const std::vector<std::string> keys = experiment_keys();
  std::vector<std::string> exact, close;
  for (const std::string& key : keys) {
    if (!key.starts_with("model.") && !key.starts_with("train.") && !key.starts_with("decode.")) {
      continue;
    }
    const std::string own = key.substr(key.find('.') + 1);
    const OptionSpec* option = search_option_called(own);
    const bool same = own == typed || (option != nullptr && option->name == typed);
    if (same) exact.push_back("--set " + key + "=VALUE");
    if (names_key(typed, own)) close.push_back("--set " + key + "=VALUE");
  }
  std::vector<std::string>& found = exact.empty() ? close : exact;
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  constexpr std::size_t kMost = 4;
  if (found.size() > kMost) {
    std::erase_if(found, [](const std::string& set) { return !set.starts_with("--set model."); });
  }
  if (found.empty() || found.size() > kMost) return "";
  return found.size() == 1 ? found.front() + " sets it" : list_words(found, "and") + " set it";
}

/// Returns "explain and page have it" if other commands have the option.
std::string hint_for_command(const std::string& typed) {
  const CommandLine all = command_tree();
  std::vector<std::string> names;
  for (const CLI::App* command : all.app->get_subcommands({})) {
    if (has_option(*command, typed)) names.push_back(command->get_name());
  }
  if (names.empty()) return "";
  const std::string verb = names.size() == 1 ? " has it" : " have it";
  return list_words(names, "and") + verb;
}

/// Returns the option of `command` nearest to `typed`, if it looks like a typo.
std::string nearest_option(const CLI::App& command, const std::string& typed) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) known.push_back(option->get_name());
  }
  // Two swapped letters count as one typo.
  for (std::size_t i = 2; i + 1 < typed.size(); ++i) {
    std::string swapped = typed;
    std::swap(swapped[i], swapped[i + 1]);
    if (std::ranges::find(known, swapped) != known.end()) return swapped;
  }
  const std::string closest = nearest_word(typed, known);
  return alike(typed, closest) ? closest : "";
}

/// Returns a suggestion for an option that `command` does not have: "did you mean --heads?", a
/// config key, or the commands that have it. Derived entirely from the option declarations.
std::string hint_for_option(const CLI::App& command, const std::string& typed) {
  const std::string key = key_of(typed);
  const OptionSpec* meant = search_option_called(key);
  for (const std::string& name : {option_name(key), meant ? option_name(meant->name) : ""}) {
    if (!name.empty() && has_option(command, name)) return fmt::format("did you mean {}?", name);
  }
  const bool trains = has_option(command, "--set") && command.get_name() == "train";
  for (const std::string& name : options_of_other_program(key)) {
    if (name.empty())
      return fmt::format("attn-demo {} --help lists its options", command.get_name());
    const bool is_key = name.find('.') != std::string::npos;
    if (is_key && trains) return fmt::format("--set {}=VALUE sets it", name);
    if (!is_key && has_option(command, option_name(name))) {
      return fmt::format("did you mean {}?", option_name(name));
    }
  }
  if (trains) {
    if (const std::string hint = hint_for_key(key); !hint.empty()) return hint;
  }
  if (const std::string hint = hint_for_command(typed); !hint.empty()) return hint;
  const std::string closest = nearest_option(command, typed);
  if (!closest.empty()) return fmt::format("did you mean {}?", closest);
  return fmt::format("attn-demo {} --help lists its options", command.get_name());
}

/// Reports words that match no option or argument of `command`.
[[noreturn]] void refuse_words(const CLI::App& command, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.size() < 2 || word[0] != '-') continue;
    const std::string name = word.substr(0, word.find('='));
    throw UsageError("{} has no option {}; {}", command.get_name(), excerpt(name),
                     hint_for_option(command, name));
  }
  const std::string& last = words.back();
  std::error_code error;
  if (command.get_option_no_throw("--model") != nullptr &&
      std::filesystem::is_directory(last, error)) {
    throw UsageError("{} does not take the argument {}; --model {} names a model",
                     command.get_name(), excerpt(last), excerpt(last));
  }
  throw UsageError("{} does not take the argument {}; attn-demo {} --help shows what it takes",
                   command.get_name(), excerpt(last), command.get_name());
}

/// Reports "no command foo; did you mean …?"
[[noreturn]] void refuse_command(const std::string& typed, const std::vector<std::string>& known) {
  if (typed.find(' ') != std::string::npos) {
    throw UsageError("no command {}; a sentence follows one: attn-demo translate \"...\"",
                     excerpt(typed));
  }
  const std::string closest = nearest_word(typed, known);
  if (alike(typed, closest)) {
    throw UsageError("no command {}; did you mean {}?", excerpt(typed), closest);
  }
  throw UsageError("no command {}; the commands are {}", excerpt(typed),
                   fmt::format("{}", fmt::join(known, ", ")));
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  names.insert(names.end(), {"version", "help"});
  return names;
}

/// Returns "attn-demo 0.2.0 (x86_64, GCC 12.2.0; products for avx512)": the build target, and the
/// kernels that this CPU uses.
std::string version_text() {
#if defined(__clang__)
  constexpr const char* compiler = "Clang";
#else
  constexpr const char* compiler = "GCC";
#endif
  return fmt::format("attn-demo {} ({}, {} {}; matrix multiplication for {})", ATTN_VERSION,
                     ATTN_PROCESSOR, compiler, ATTN_COMPILER_VERSION, kernels().name);
}

/// Adds help and version, which only print text.
void add_texts(CLI::App& app, CommandLine& line) {
  CLI::App* version = app.add_subcommand("version", "Show the version, and what it was built for");
  version->footer("Example:\n  attn-demo version");
  version->callback([&line] { line.text = version_text() + "\n"; });
  CLI::App* help = app.add_subcommand("help", "Show a command's options, with examples");
  const auto about = std::make_shared<std::string>();
  help->add_option("COMMAND", *about, "The command; without one, help lists all commands")
      ->group(help_group::reads);
  help->footer("Examples:\n  attn-demo help\n  attn-demo help translate");
  help->callback([&app, &line, about] {
    const std::vector<std::string> known = command_names();
    if (about->empty()) {
      line.text = app.get_formatter()->make_help(&app, app.get_name(), CLI::AppFormatMode::Normal);
    } else if (std::find(known.begin(), known.end(), *about) == known.end()) {
      refuse_command(*about, known);
    } else {
      line.text = app.get_subcommand(*about)->help(app.get_name());
    }
  });
}

/// Adds the command that the first word names, which takes a fraction of the time for all; adds all
/// if it is another word or an option.
void add_commands(CLI::App& app, CommandLine& line, const std::string& word) {
  const auto named = std::ranges::find(kCommands, word, &Command::name);
  if (named != kCommands.end()) return named->add(app, line.run);
  for (const Command& command : kCommands) command.add(app, line.run);
  add_texts(app, line);
}

/// Reports a flag that was given a value, if `found` is the parser's "Could not convert: --compare
/// = attention".
void refuse_value(const CLI::App& command, const std::string& found) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string& name = option->get_name();
    const std::string begin = fmt::format("Could not convert: {} = ", name);
    if (option->get_expected_max() > 0 || !found.starts_with(begin)) continue;
    throw UsageError("{0} takes no value, but you gave {1}; write {0} alone, or {0} {1}", name,
                     excerpt(found.substr(begin.size())));
  }
}

/// Reports the parser's message with a hint.
[[noreturn]] void refuse(const CLI::App& app, const CLI::App* command,
                         const CLI::ParseError& error) {
  const std::vector<std::string> rest = app.remaining(true);
  const bool options = std::ranges::any_of(
      rest, [](const std::string& word) { return word.size() > 1 && word[0] == '-'; });
  const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (command != nullptr && !rest.empty() && (options || extras)) refuse_words(*command, rest);
  if (command == nullptr) {
    throw UsageError("a command is missing{}; attn-demo help lists them",
                     rest.empty() ? "" : ": options follow it");
  }
  constexpr int kMostColumns = 300;  // the parser quotes whole arguments
  std::string found = error.what();
  std::replace(found.begin(), found.end(), '\n', ' ');
  constexpr std::string_view kTwice = ": At Most 1 required but received ";
  const bool mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  if (const std::size_t place = found.find(kTwice); mismatch && place != found.npos) {
    throw UsageError("{} was given {} times; keep one of them", found.substr(0, place),
                     found.substr(place + kTwice.size()));
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    refuse_value(*command, found);
  }
  throw UsageError("{}; attn-demo {} --help shows the usage",
                   truncate_to_width(printable(found), kMostColumns), command->get_name());
}

/// Refuses output files whose names contradict their format.
void check_file_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) names.push_back(option->get_name());
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& path : option->results()) {
      check_file_name(option->get_name(), path, names);
    }
  }
}

/// Creates the program's parser without its commands.
void make_app(CommandLine& line) {
  line.app = std::make_unique<CLI::App>("A translator whose attention you can see.", "attn-demo");
  CLI::App& app = *line.app;
  app.formatter(help_formatter());
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "Show this help and exit");
  app.set_version_flag("--version", std::function<std::string()>(version_text),
                       "Show the version, and what it was built for, and exit");
  app.footer(
      "Example:\n  attn-demo translate \"The group went home\"\n\n"
      "attn-demo help COMMAND shows a command's options and examples.");
}

}  // namespace

CommandLine command_tree() {
  CommandLine line;
  make_app(line);
  add_commands(*line.app, line, "");
  return line;
}

CommandLine parse_command_line(int argc, const char* const* argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  const std::vector<std::string> known = command_names();
  // Handles `train help`; for translate and explain, that word is a sentence.
  const bool sentences = word == "translate" || word == "explain";
  if (argc == 3 && !sentences && std::string_view(argv[2]) == "help") {
    const std::array<const char*, 3> asked = {argv[0], argv[1], "--help"};
    return parse_command_line(3, asked.data());
  }
  const bool named = std::find(known.begin(), known.end(), word) != known.end();
  if (!word.empty() && word[0] != '-' && !named) refuse_command(word, known);
  CommandLine line;
  make_app(line);
  CLI::App& app = *line.app;
  add_commands(app, line, word);
  try {
    app.parse(argc, argv);
    for (const CLI::App* command : app.get_subcommands()) check_file_names(*command);
  } catch (const CLI::Success& success) {  // --help, --version
    std::ostringstream text;
    app.exit(success, text, text);
    line.text = text.str();
  } catch (const CLI::ParseError& error) {
    refuse(app, named ? app.get_subcommand(word) : nullptr, error);
  }
  return line;
}

}  // namespace attn
