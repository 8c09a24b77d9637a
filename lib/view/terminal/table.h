// A table before it is drawn: cells are text already, so that a view needs to know no numbers.
#pragma once

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

}  // namespace attn
