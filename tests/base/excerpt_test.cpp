#include "base/strings/utf8.h"

#include <doctest/doctest.h>

#include <string>

using namespace attn;

TEST_CASE("an excerpt is short and printable, whatever comes in") {
  CHECK(excerpt("cross:1") == "cross:1");
  CHECK(excerpt("a\x1b[31m\n") == printable("a\x1b[31m\n"));
  for (const std::string& piece : {std::string(70'000, 'x'), std::string(70'000, '\x1b'),
                                   std::string(70'000, '\xff'), "\u6f22" + std::string(300, 'y')}) {
    const std::string shown = excerpt(piece);
    CHECK(display_width(shown) <= 60);
    CHECK(shown.ends_with("\u2026"));
    CHECK(shown.size() <= 240);
  }
}
