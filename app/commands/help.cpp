#include "commands/help.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "terminal/console.h"
#include "view/terminal/text_line.h"

namespace attn {
namespace {

constexpr int kNameColumns = 24;  ///< before the words about an option
constexpr std::string_view kRest = "More";

struct HelpGroup {
  std::string_view title;
  std::string_view options;  ///< a blank before and after each
};

/// In the order in which they are printed.
constexpr std::array<HelpGroup, 11> kHelpGroups = {{
    {"What it reads",
     " SENTENCE RECORDS CONFIG COMMAND --input --source --target --hypotheses --against "
     "--gold --order --source-lang --target-lang "},
    {"Which model",
     " --model --maps-of --global --prefix --config --preset --seed --d-model --layers --heads "
     "--set "
     "--from "},
    {"What it makes",
     " --type --vocab-size --separate --source-language --target-language "
     "--dtype --resume --lowercase --tokenize --out --output "},
    {"How it searches",
     " --beam --n-best --length-penalty --early-stopping --max-length --min-length --split "
     "--document --no-repeat-ngram --encoder-no-repeat-ngram --repetition-penalty "},
    {"How it draws", " --sample --temperature --top-k --top-p --min-p --typical --sample-seed "},
    {"What the terminal shows",
     " --show --numbers --words --pieces --top --hypothesis --report --align --align-weights "
     "--align-least "
     "--head-importance --presets --languages --receptive-field --source-length --target-length "
     "--lengths "
     "--length --color "},
    {"What is measured", " --attention --head-dim --causal --backward --dropout "},
    {"What is explained", " --kind --layer --head --query --step --short --compare --meaning "},
    {"Files",
     " --json --vectors --tree --html --alone --svg --png --png-scale --pdf --csv --markdown "},
    {"What if", " --without --force --swap "},
    {"How it runs",
     " --threads --batch --precision --resamples --resampling-seed --host --port --name --drain "
     "--log "},
}};

int columns() {
  if (!stdout_is_terminal()) return help_columns;
  return std::clamp(terminal_style().width, narrowest_width, help_columns);
}

/// "  NAME   what it is", the second column wrapped; a long name has a line of its own.
std::string entry(const std::string& name, const std::string& text) {
  std::string out = "  " + name;
  if (text.empty()) return out + "\n";
  if (display_width(out) + 2 > kNameColumns) {
    out += "\n" + std::string(kNameColumns, ' ');
  } else {
    out += std::string(to_size(kNameColumns - display_width(out)), ' ');
  }
  return out + wrapped(text, columns() - kNameColumns, kNameColumns);
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    std::string out = app->get_description() + "\n\nUsage: " + usage_line(*app, name) + "\n";
    const std::vector<const CLI::App*> commands = app->get_subcommands({});
    if (!commands.empty()) out += "\nCommands:\n";
    for (const CLI::App* command : commands) {
      out += entry(command->get_name(), command->get_description());
    }
    for (const std::string_view group : help_groups()) out += options_of(*app, group);
    if (!app->get_footer().empty()) out += "\n" + app->get_footer() + "\n";
    return out;
  }

 private:
  static std::string options_of(const CLI::App& app, std::string_view title) {
    std::string out;
    for (const CLI::Option* option : options_in(app, title)) {
      out += entry(option_words(*option), option->get_description());
    }
    return out.empty() ? out : "\n" + std::string(title) + ":\n" + out;
  }
};

}  // namespace

std::string_view help_group(std::string_view option) {
  for (const HelpGroup& group : kHelpGroups) {
    const std::string word = " " + std::string(option) + " ";
    if (group.options.find(word) != std::string_view::npos) return group.title;
  }
  return kRest;
}

std::vector<std::string_view> help_groups() {
  std::vector<std::string_view> titles;
  for (const HelpGroup& group : kHelpGroups) titles.push_back(group.title);
  titles.push_back(kRest);
  return titles;
}

std::vector<const CLI::Option*> options_in(const CLI::App& app, std::string_view group) {
  std::vector<const CLI::Option*> found;
  for (const bool positional : {true, false}) {
    for (const CLI::Option* option : app.get_options()) {
      const std::string name = positional ? option->get_name(true, false) : option->get_name();
      if (option->get_positional() == positional && help_group(name) == group) {
        found.push_back(option);
      }
    }
  }
  return found;
}

std::string option_words(const CLI::Option& option) {
  if (option.get_positional()) {
    return option.get_name(true, false) + (option.get_expected_max() > 1 ? "..." : "");
  }
  std::string name = option.get_name(false, true);
  if (option.get_type_size() != 0 && option.get_items_expected_max() > 0) {
    name += " " + option.get_type_name();
  }
  return name;
}

std::string usage_line(const CLI::App& app, const std::string& name) {
  std::string line = name;
  if (!app.get_subcommands({}).empty()) return line + " COMMAND [OPTIONS]";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_required()) line += " " + option_words(*option);
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && !option->get_required()) {
      line += " [" + option_words(*option) + "]";
    }
  }
  return line + " [OPTIONS]";
}

std::shared_ptr<CLI::FormatterBase> help_formatter() {
  return std::make_shared<HelpFormatter>();
}

}  // namespace attn
