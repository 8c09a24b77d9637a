#include "text/test_set/test_set.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "text/test_set/markup_readers.h"
#include "text/test_set/test_set_builder.h"

namespace attn {
namespace {

constexpr std::string_view kSpaces = " \t\r\n\f\v";

/// Removes a byte order mark and whitespace from the start.
std::string_view without_start(std::string_view bytes) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  bytes.remove_prefix(std::min(bytes.find_first_not_of(kSpaces), bytes.size()));
  return bytes;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns the lower-case name of the first element, after declarations and comments.
std::string root_name(std::string_view bytes) {
  while (bytes.starts_with("<!") || bytes.starts_with("<?")) {
    const std::string_view end = bytes.starts_with("<!--") ? "-->" : ">";
    const std::size_t found = bytes.find(end);
    if (found == bytes.npos) return "";
    bytes = without_start(bytes.substr(found + end.size()));
  }
  if (!bytes.starts_with('<')) return "";
  const std::size_t end = bytes.find_first_of(" \t\r\n/>", 1);
  return end == bytes.npos ? "" : ascii_lower(bytes.substr(1, end - 1));
}

constexpr std::array<std::string_view, 4> kSgml{"srcset", "refset", "tstset", "mteval"};
constexpr std::array<std::string_view, 2> kXml{"dataset", "tmx"};
/// Roots and parts of other formats, which no sentence begins with; the reader refuses them.
constexpr std::array<std::string_view, 9> kOther{"html", "xliff", "svg", "rss",       "seg",
                                                 "tu",   "tuv",   "doc", "trans-unit"};

/// True if the text begins with an element that shows that it is no plain text.
bool begins_with_format(std::string_view bytes) {
  const std::string root = root_name(bytes);
  const auto is_in = [&](const auto& names) {
    return std::ranges::find(names, root) != names.end();
  };
  if (root.empty()) return false;
  const std::string_view tag = bytes.substr(0, bytes.find('>'));
  return is_in(kSgml) || is_in(kXml) || is_in(kOther) || tag.find(" xmlns") != tag.npos;
}

enum class Markup { none, xml, sgml };

/// Decides by the content. Text may begin with a tag, too, so without a declaration only the
/// elements of the known formats, and several lines that are XML as a whole, are markup.
Markup markup_of(std::string_view bytes) {
  if (!may_be_markup(bytes)) return Markup::none;
  const std::string start = ascii_lower(bytes.substr(0, 10));
  if (start.starts_with("<?xml")) return Markup::xml;
  const std::string root = root_name(bytes);
  if (std::ranges::find(kSgml, root) != kSgml.end()) return Markup::sgml;
  if (begins_with_format(bytes) || start.starts_with("<!doctype")) return Markup::xml;
  const std::size_t last = bytes.find_last_not_of(kSpaces);
  const bool several_lines = bytes.substr(0, last).find('\n') != bytes.npos;
  return several_lines && is_well_formed_xml(bytes) ? Markup::xml : Markup::none;
}

bool has_text(std::string_view text) {
  return text.find_first_not_of(kSpaces) != text.npos;
}

/// Returns the table if each line has two columns; empty lines count as two. Unless the name says
/// that it is a table, it needs two lines and text in both columns: text that begins with tabs, or
/// a single line with a tab, is plain.
std::optional<TestSet> parse_table(std::string_view bytes, const std::string& path, Tables tables) {
  const bool named = ascii_lower(path).ends_with(".tsv");
  TestSet set{"TSV", {{TextRole::source, "", {}, {}}, {TextRole::reference, "", {}, {}}}, 0};
  if (!named && tables == Tables::by_name) return std::nullopt;
  std::size_t rows = 0;
  bool source = false, target = false;  // whether a line has text there
  for (const std::string_view line : split_lines(bytes)) {
    const std::size_t tab = line.find('\t');
    const bool two = tab != line.npos && line.find('\t', tab + 1) == line.npos;
    if (!two && !line.empty()) {
      if (!named) return std::nullopt;
      const auto columns = std::count(line.begin(), line.end(), '\t') + 1;
      throw InputError("{}:{}: found {} column{}, expected two separated by a tab: source, target",
                       printable(path), set.texts[0].lines.size() + 1, columns,
                       columns == 1 ? "" : "s");
    }
    set.texts[0].lines.emplace_back(two ? line.substr(0, tab) : line);
    set.texts[1].lines.emplace_back(two ? line.substr(tab + 1) : line);
    if (!two) continue;
    ++rows;
    source = source || has_text(line.substr(0, tab));
    target = target || has_text(line.substr(tab + 1));
  }
  const bool table = named ? rows > 0 : rows > 1 && source && target;
  return table ? std::optional(std::move(set)) : std::nullopt;
}

const char* name_of(TextRole role) {
  if (role == TextRole::source) return "source";
  return role == TextRole::reference ? "reference" : "hypothesis";
}

std::string label(const TestSetText& text) {
  return text.name.empty() ? "one without a name" : excerpt(text.name);
}

/// Removes references whose segments are not those of the fullest text.
void remove_incomplete(std::vector<TestSetText>& texts, const std::vector<std::string>& expected,
                       std::string& note) {
  std::erase_if(texts, [&](const TestSetText& text) {
    if (text.ids == expected) return false;
    note += fmt::format("; {} has {} of {} segments and is left out", label(text),
                        text.lines.size(), expected.size());
    return true;
  });
}

}  // namespace

bool may_be_markup(std::string_view bytes) {
  bytes = without_start(bytes);
  return bytes.size() > 1 && bytes[0] == '<' &&
         (bytes[1] == '?' || bytes[1] == '!' || is_letter(bytes[1]));
}

bool is_declared_markup(std::string_view bytes) {
  bytes = without_start(bytes);
  const std::string start = ascii_lower(bytes.substr(0, 10));
  if (start.starts_with("<?xml") || start.starts_with("<!doctype")) return true;
  return begins_with_format(bytes);
}

std::optional<TestSet> parse_test_set(std::string_view bytes, const std::string& path,
                                      Tables tables) {
  const std::string_view content = without_start(bytes);
  const Markup markup = markup_of(content);
  if (markup == Markup::none) return parse_table(bytes, path, tables);
  TestSetBuilder builder(path);
  if (markup == Markup::xml) {
    // XML allows no whitespace before its declaration; everything else is counted in lines.
    read_xml(content.starts_with("<?") ? content : bytes, builder);
  } else {
    read_sgml(content, builder);
  }
  return builder.finish();
}

std::optional<RoleTexts> texts_of_role(std::string_view bytes, const std::string& path,
                                       TextRole role, Tables tables) {
  std::optional<TestSet> set = parse_test_set(bytes, path, tables);
  if (!set) return std::nullopt;
  RoleTexts found;
  std::string held;
  const auto take = [&](TextRole wanted) {
    for (TestSetText& text : set->texts) {
      if (text.role == wanted) found.texts.push_back(text);
    }
  };
  take(role);
  if (found.texts.empty() && role == TextRole::hypothesis) take(TextRole::reference);
  std::string note;
  if (!found.texts.empty()) {
    const auto fullest = std::ranges::max_element(
        set->texts, {}, [](const TestSetText& text) { return text.lines.size(); });
    remove_incomplete(found.texts, fullest->ids, note);
  }
  if (found.texts.empty()) {
    for (const TestSetText& text : set->texts) {
      held += fmt::format("{}{}", held.empty() ? "" : ", ", name_of(text.role));
    }
    throw InputError("{}: {} without a complete {} (it has: {}); give a file that has one",
                     printable(path), set->format, name_of(role), held.empty() ? "no text" : held);
  }
  if (role == TextRole::hypothesis && found.texts.size() > 1) {
    throw InputError("{}: {} with {} systems, expected one; keep one of them ({}, {} …)",
                     printable(path), set->format, found.texts.size(), label(found.texts[0]),
                     label(found.texts[1]));
  }
  const std::size_t lines = found.texts.front().lines.size();
  if (set->skipped > 0)
    note += fmt::format("; {} without both languages left out",
                        set->skipped == 1 ? "1 unit" : fmt::format("{} units", set->skipped));
  if (found.texts.size() > 1) note += fmt::format("; {} references", found.texts.size());
  found.note = fmt::format("{}: read as {}, {} {}{}", printable(path), set->format, lines,
                           lines == 1 ? "segment" : "segments", note);
  return found;
}

}  // namespace attn
