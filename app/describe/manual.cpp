#include "describe/descriptions.h"

#include <algorithm>
#include <string_view>

#include "commands/help.h"

namespace attn {
namespace {

/// Escapes text for roff, so that no line is a request and hyphens can be copied.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += std::string("\\&") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string entry(const std::string& words, const std::string& text) {
  return ".TP\n.B " + roff(words) + "\n" + roff(text.empty() ? "\\&" : text) + "\n";
}

std::string in_capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// Formats the end of --help: notes, then examples under their own heading.
std::string footer_sections(const std::string& footer) {
  std::string notes = footer, examples;
  for (const std::string_view heading : {"Examples:\n", "Example:\n"}) {
    const std::size_t at = notes.find(heading);
    if (at == notes.npos) continue;
    examples = notes.substr(at + heading.size());
    notes.resize(at);
  }
  notes.resize(notes.find_last_not_of('\n') + 1);
  std::string out;
  if (!notes.empty()) out += ".SH NOTES\n" + roff(notes) + "\n";
  if (!examples.empty()) out += ".SH EXAMPLES\n.nf\n" + roff(examples) + "\n.fi\n";
  return out;
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& name, const std::string& version) {
  std::string title = name;
  std::replace(title.begin(), title.end(), ' ', '-');
  std::string out = ".TH " + in_capitals(title) + " 1 \"\" \"attn-demo " + version + "\"\n";
  out += ".SH NAME\n" + roff(title + " - " + app.get_description()) + "\n";
  out += ".SH SYNOPSIS\n.B " + roff(usage_line(app, name)) + "\n";
  const std::vector<const CLI::App*> commands = app.get_subcommands({});
  if (!commands.empty()) out += ".SH COMMANDS\n";
  for (const CLI::App* command : commands) {
    out += entry(command->get_name(),
                 command->get_description() + "; attn-demo-" + command->get_name() + "(1).");
  }
  for (const char* group : help_group::in_order) {
    const std::vector<const CLI::Option*> options = options_in(app, group);
    if (options.empty()) continue;
    out += ".SH \"" + in_capitals(std::string(group)) + "\"\n";
    for (const CLI::Option* option : options) {
      out += entry(option_words(*option), option->get_description());
    }
  }
  out += footer_sections(app.get_footer());
  return out;
}

}  // namespace attn
