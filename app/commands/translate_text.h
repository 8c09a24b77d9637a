// The text that translate is given: hints about it, HTML, and placeholders.
#pragma once

#include <string>
#include <string_view>

#include "commands/search_options.h"
#include "commands/view_options.h"
#include "service/translate_texts.h"
#include "terminal/line_input.h"

namespace attn {

/// Notes that a sentence is the name of a file, whose lines were probably meant.
void hint_at_file(const std::string& sentence);

/// Notes that the only sentence is empty, or that it is "help".
void hint_at_sentence(const std::string& sentence);

/// Throws UsageError for --html-input with options that show a sentence. `with` names another one
/// that is given, such as --target; empty: none.
void check_html_input(const ViewOptions& view, std::string_view with);

/// Returns the settings for translations without maps: --html-input, --keep and --align.
TextSettings markup_settings(const SearchOptions& search, const ViewOptions& view,
                             const LineSettings& lines);

/// Replaces whitespace that moves a terminal's cursor, a carriage return without a line feed, a
/// vertical tab and a form feed, by SUB, which is counted and shown as all control characters are.
std::string without_cursor_moves(std::string line);

/// Reads all lines as one text. Throws InputError if it is too long.
std::string whole_text(LineSource& lines);

/// Notes, once, that a sentence that is shown with maps keeps nothing.
class ShownMarkupNote {
 public:
  void add(const std::string& sentence);

 private:
  bool noted_ = false;
};

}  // namespace attn
