// A table before it is drawn: cells are text already, so that a view needs to know no numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attn {

struct TableColumn {
  std::string name;
  bool right = false;  ///< numbers stand at the right
};

struct Table {
  std::string title;  ///< a line above; may be empty
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;  ///< an empty row draws a rule
  std::vector<std::string> notes;              ///< sentences below, folded to the window
};

// Tables on a terminal or in a pipe: plain text, columns aligned, notes folded.

/// 12345 as "12,345".
std::string with_thousands_separators(std::uint64_t number);

/// One table. Columns are as wide as their widest cell; only a left-aligned last column and the
/// notes are folded, at blanks, to `width` columns (at least 40). Control characters of cells are
/// made visible. Ends with a newline.
std::string render_table(const Table& table, int width = 80);

/// The tables with an empty line between them.
std::string render_tables(const std::vector<Table>& tables, int width = 80);

}  // namespace attn
