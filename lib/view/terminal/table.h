// A table before it is drawn. Its cells are already text, so that drawing does not deal with
// numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attn {

struct TableColumn {
  std::string name;
  bool right = false;  ///< right-aligned, for numbers
};

struct Table {
  std::string title;  ///< a line above the table; may be empty
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;  ///< an empty row draws a rule
  std::vector<std::string> notes;              ///< sentences below the table, wrapped to the window
};

// Tables on a terminal or in a pipe: plain text, aligned columns, wrapped notes.

/// Formats 12345 as "12,345".
std::string with_thousands_separators(std::uint64_t number);

/// Renders one table. Columns are as wide as their widest cell. Only the notes and a left-aligned
/// last column are wrapped, at spaces, to `width` columns (at least 40). Control characters in
/// cells are made visible. Ends with a newline.
std::string render_table(const Table& table, int width = 80);

/// Renders the tables with an empty line between them.
std::string render_tables(const std::vector<Table>& tables, int width = 80);

}  // namespace attn
