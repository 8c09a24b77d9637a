// Test sets and parallel texts that are not plain lines: WMT's SGML and XML, TMX, and tables with
// two columns separated by a tab.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The role of a text in a test set.
enum class TextRole { source, reference, hypothesis };

/// One text of a test set: a line per segment, without line ends.
struct TestSetText {
  TextRole role = TextRole::source;
  std::string name;  ///< translator of a reference, system of a hypothesis; may be empty
  std::vector<std::string> lines;
  std::vector<std::string>
      ids;  ///< of the segments, "document/segment"; empty if the file has none
};

struct TestSet {
  std::string format;  ///< "WMT SGML", "WMT XML", "TMX" or "TSV"
  std::vector<TestSetText> texts;
  std::size_t skipped = 0;  ///< units of a TMX file that lack one of its two languages
};

/// True if a file that begins with these bytes, apart from a byte order mark and whitespace, may be
/// XML or SGML. `bytes` should hold the first line at least.
bool may_be_markup(std::string_view bytes);

/// True if a file that begins so declares itself as markup or begins with an element of the formats
/// below. A line of text may begin with another tag.
bool is_declared_markup(std::string_view bytes);

/// Which files may be tables. `by_content`: also those whose name does not end in .tsv, if they
/// have two lines or more, each with exactly one tab, and text in both columns.
enum class Tables { by_content, by_name };

/// Returns the tables that training reads: with one file for each side, a tab in every line does
/// not make a table.
inline Tables tables_of_sides(std::string_view source, std::string_view target) {
  return source == target ? Tables::by_content : Tables::by_name;
}

/// Recognizes a test set by the file's content. Returns nothing for plain lines. Throws InputError,
/// beginning with path and line, for markup that is not one of the formats above or breaks their
/// rules: elements that are not closed, text outside of a segment, declared entities, and a name
/// *.tsv whose lines do not all have two columns. Nothing outside of `bytes` is read.
std::optional<TestSet> parse_test_set(std::string_view bytes, const std::string& path,
                                      Tables tables = Tables::by_content);

/// The texts of one role.
struct RoleTexts {
  std::vector<TestSetText> texts;  ///< one; several only for references
  std::string note;                ///< names the format, and what was left out
};

/// Returns the texts of `role` in a file's content; nothing for plain lines. In a table, the first
/// column is the source and the second the reference. References that lack segments are left out,
/// and the note says so. A file without hypotheses gives its reference for them. Throws InputError
/// as parse_test_set does, and if the file has no text of that role.
std::optional<RoleTexts> texts_of_role(std::string_view bytes, const std::string& path,
                                       TextRole role, Tables tables = Tables::by_content);

}  // namespace attn
