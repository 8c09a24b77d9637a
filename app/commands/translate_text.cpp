#include "commands/translate_text.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "markup/placeholders.h"
#include "service/field_text.h"
#include "terminal/console.h"

namespace attn {

void hint_at_file(const std::string& sentence) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(sentence, error)) return;
  note(fmt::format("translating {0} itself; --input {0} reads the file", excerpt(sentence)));
}

void hint_at_sentence(const std::string& sentence) {
  if (sentence == "help") {
    note("translating the sentence \"help\"; attn-demo help translate shows the options");
  } else if (sentence.find_first_not_of(" \t\n") == sentence.npos) {
    note("the sentence is empty; there is nothing to translate");
  }
}

void check_html_input(const ViewOptions& view, std::string_view with) {
  ViewOptions others = view;
  others.align.clear();
  if (with.empty() && !others.need_records() && view.show.empty()) return;
  throw UsageError(
      "--html-input cannot be combined with {}, which shows a sentence; leave one of them out",
      !with.empty()       ? with
      : view.show.empty() ? "files and tables of maps"
                          : "--show");
}

TextSettings markup_settings(const SearchOptions& search, const ViewOptions& view,
                             const LineSettings& lines) {
  TextSettings settings = text_settings(search, lines);
  if (!view.align.empty()) {
    settings.alignment = for_field("align", [&] { return parse_alignment_method(view.align); });
  }
  return settings;
}

std::string without_cursor_moves(std::string line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool line_end = line.compare(i, 2, "\r\n") == 0;
    if ((line[i] == '\r' && !line_end) || line[i] == '\v' || line[i] == '\f') line[i] = '\x1a';
  }
  return line;
}

std::string whole_text(LineSource& lines) {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20, kBatch = 256;
  std::string text;
  lines.for_each(kBatch, [&](const LineSource::Lines& batch) {
    for (const LineReader::Line& line : batch) {
      if (line.dropped > 0) {
        throw InputError("{}: a line has more than {} bytes; break it into lines", lines.name(),
                         LineReader::max_line_bytes);
      }
      text += line.bytes + "\n";
      if (text.size() <= kMostBytes) continue;
      throw InputError("{} has more than {} bytes; translate it in parts", lines.name(),
                       kMostBytes);
    }
  });
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void ShownMarkupNote::add(const std::string& sentence) {
  if (noted_ || find_placeholders(sentence, true).empty()) return;
  noted_ = true;
  note(
      "with maps, placeholders and Markdown are translated like words; --show none leaves them "
      "unchanged");
}

}  // namespace attn
