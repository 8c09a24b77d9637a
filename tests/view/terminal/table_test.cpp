#include <doctest/doctest.h>

#include "base/strings/utf8.h"
#include "view/terminal/table.h"

using attn::Table;

TEST_CASE("a table has aligned columns, a rule and notes") {
  Table table;
  table.title = "Title";
  table.columns = {{"name", false}, {"n", true}};
  table.rows = {{"a·b", "1,000"}, {}, {"total", "7"}};
  table.notes = {"One."};
  CHECK(attn::render_table(table) ==
        "Title\n\n"
        "name       n\n"
        "────────────\n"
        "a·b    1,000\n"
        "────────────\n"
        "total      7\n"
        "\n"
        "One.\n");
}

TEST_CASE("columns without names have no header line") {
  Table table;
  table.columns = {{"", false}, {"", false}};
  table.rows = {{"key", "value"}};
  CHECK(attn::render_table(table) == "key  value\n");
}

TEST_CASE("a long last cell and long notes fold at blanks") {
  Table table;
  table.columns = {{"a", false}, {"b", false}};
  table.rows = {{"x", "one two three four five six seven eight nine"}};
  table.notes = {"one two three four five six seven eight nine ten"};
  const std::string text = attn::render_table(table, 40);
  CHECK(text ==
        "a  b\n"
        "────────────────────────────────────────\n"
        "x  one two three four five six seven\n"
        "   eight nine\n"
        "\n"
        "one two three four five six seven eight\n"
        "nine ten\n");
}

TEST_CASE("control characters in cells are made visible") {
  Table table;
  table.title = "a\x1b[31m";
  table.columns = {{"", false}};
  table.rows = {{"x\ny"}};
  const std::string text = attn::render_tables({table, table});
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("x\ny") == std::string::npos);
  CHECK(text.find("\n\n" + attn::printable(table.title)) != std::string::npos);
}
