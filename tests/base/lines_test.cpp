#include "base/strings/utf8.h"

#include <doctest/doctest.h>

using attn::split_lines;
using Views = std::vector<std::string_view>;

TEST_CASE("lines with either end, and with none at the end of the text") {
  CHECK(split_lines("").empty());
  CHECK(split_lines("a") == Views{"a"});
  CHECK(split_lines("a\n") == Views{"a"});
  CHECK(split_lines("a\r\nb\n\nc") == Views{"a", "b", "", "c"});
  CHECK(split_lines("\n\r\n") == Views{"", ""});
  CHECK(split_lines("a\rb\r\r\n") == Views{"a\rb\r"});
}
