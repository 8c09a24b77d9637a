#include "commands/help.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "terminal/console.h"
#include "view/terminal/styled_text.h"

namespace attn {
namespace {

constexpr int kNameColumns = 24;  ///< before an option's description
int columns() {
  if (!stdout_is_terminal()) return help_columns;
  return std::clamp(terminal_style().width, min_terminal_width, help_columns);
}

/// Returns "  NAME   description" with the second column wrapped; a long name gets its own line.
std::string entry(const std::string& name, const std::string& text) {
  std::string out = "  " + name;
  if (text.empty()) return out + "\n";
  if (display_width(out) + 2 > kNameColumns) {
    out += "\n" + std::string(kNameColumns, ' ');
  } else {
    out += std::string(to_size(kNameColumns - display_width(out)), ' ');
  }
  return out + wrap_words(text, columns() - kNameColumns, kNameColumns);
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
    for (const char* group : help_group::in_order) out += options_of(*app, group);
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

std::vector<const CLI::Option*> options_in(const CLI::App& app, std::string_view group) {
  std::vector<const CLI::Option*> found;
  for (const bool positional : {true, false}) {
    for (const CLI::Option* option : app.get_options()) {
      const std::string& own = option->get_group();
      const bool here = own == group || (group == help_group::more && own == "Options");
      if (option->get_positional() == positional && here) {
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
