#include "view/svg/svg_text.h"

#include <doctest/doctest.h>

#include "base/strings/utf8.h"

namespace attn {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("text width: grows with letters and size, and combining marks take nothing") {
  CHECK(text_width("", 12) == 0);
  CHECK(text_width("0.35", 10) == doctest::Approx(22.4));
  CHECK(text_width("WWW", 12) > text_width("iii", 12) * 2);
  CHECK(text_width("word", 24) == doctest::Approx(2 * text_width("word", 12)));
  CHECK(text_width("word", 12, FontWeight::bold) > text_width("word", 12));
  CHECK(text_width("e\u0301\u0301", 12) == text_width("e", 12));
  CHECK(text_width("漢字", 12) > 24);
  CHECK(text_width("😀", 12) > 14);
}

TEST_CASE("fit_text: cuts at a width, never inside a character") {
  CHECK(fit_text("home", 12, 100) == "home");
  CHECK(fit_text("", 12, 0) == "");
  CHECK(fit_text("a b c d e f g h", 12, 45) == "a b c…");
  for (const std::string text : {"Donaudampfschifffahrtsgesellschaft", "漢字かな漢字かな", "😀😀😀",
                                 "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301"}) {
    for (double width = 12; width < 60; width += 3) {
      const std::string fitted = fit_text(text, 12, width);
      CAPTURE(fitted);
      CHECK(is_valid_utf8(fitted));
      CHECK(text_width(fitted, 12) <= width);
      if (fitted != text) CHECK(fitted.ends_with("…"));
    }
  }
}

TEST_CASE("wrap_text: at blanks, long words where they must, an ellipsis at the end of the last") {
  CHECK(wrap_text("the old man", 12, 1000, 3) == Lines{"the old man"});
  CHECK(wrap_text("the old man", 12, 50, 3) == Lines{"the old", "man"});
  CHECK(wrap_text("the old man went home", 12, 50, 2) == Lines{"the old", "man…"});
  CHECK(wrap_text("", 12, 50, 2) == Lines{""});
  const Lines lines = wrap_text(std::string(40, 'x') + " y", 12, 100, 3);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] + lines[1] + lines[2] == std::string(40, 'x') + " y");
  for (const std::string& line : lines) CHECK(text_width(line, 12) <= 100);
  CHECK(wrap_text("WW", 12, 1, 3).size() == 1);  // nothing fits at all
}

}  // namespace
}  // namespace attn
