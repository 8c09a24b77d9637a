// Tests the lines of a text and the whitespace around them.
#include "markup/text_layout.h"

#include <doctest/doctest.h>

#include <string>

#include "markup/marked_text.h"

using namespace attn;

namespace {

std::string joined(const std::vector<LayoutLine>& lines) {
  std::string text;
  for (const LayoutLine& line : lines) {
    text += std::string(line.before) + std::string(line.content) + std::string(line.after);
  }
  return text;
}

}  // namespace

TEST_CASE("a text is split into lines, and nothing of it is lost") {
  for (const std::string text :
       {"First line.\nSecond line.", "  a\r\n\r\n\tb  \r\n", "\n\n", "", " \u00a0x\u3000\u2028y",
        "a\rb", "one line", " \t indented", "\ufeffa\fb\vc\u0085d"}) {
    CAPTURE(text);
    CHECK(joined(split_text(text)) == text);
  }
  const auto lines = split_text("  a b \r\n\r\n\tc\u00a0\n");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].before == "  ");
  CHECK(lines[0].content == "a b");
  CHECK(lines[1].before == " \r\n\r\n\t");
  CHECK(lines[1].content == "c");
  CHECK(lines[1].after == "\u00a0\n");
  CHECK(split_text(" \n").size() == 1);
  CHECK(split_text("a\nb\r\nc\rd\ve\ff\u0085g\u2028h\u2029i").size() == 9);
  CHECK(split_text("\ufeffa").front().content == "a");
}

TEST_CASE("marks of Markdown's blocks are not translated") {
  CHECK(block_mark_length("## The page") == 3);
  CHECK(block_mark_length(">  A quotation") == 3);
  CHECK(block_mark_length("* an item") == 2);
  for (const char* line : {"#1 song", "####### a", "** a", "- a dash", "#", "> ", "a # b", ""}) {
    CAPTURE(line);
    CHECK(block_mark_length(line) == 0);
  }
  const MarkedText text = read_plain_text("# One\n> *two*\n");
  REQUIRE(text.segments.size() == 2);
  CHECK(text.segments[0].before == "# ");
  CHECK(text.segments[0].text == "One");
  CHECK(text.segments[1].before == "\n> ");
  CHECK(text.segments[1].text == "two");
}

TEST_CASE("a plain line is recognized") {
  CHECK(is_one_plain_line("The group went home."));
  for (const char* text : {"", " a", "a ", "a\nb", "a\r", "{x}", "100%", "a\u2028b", "a\fb",
                           "a\u0085b", "see www.x.org", "a :b", "http://x"}) {
    CAPTURE(text);
    CHECK_FALSE(is_one_plain_line(text));
  }
}

TEST_CASE("text with markup is clean but keeps its line ends") {
  const CleanedMarkup clean = clean_markup("a\tb\r\nc\x1b\xff\xfe");
  CHECK(clean.text == "a\tb\r\nc\ufffd\ufffd\ufffd");
  CHECK(clean.controls == 1);
  CHECK(clean.invalid_bytes == 2);
  CHECK(clean_markup("a\vb\fc\u0085d\u0086").text == "a\vb\fc\u0085d\ufffd");
  CHECK(clean_markup("").text.empty());
}

TEST_CASE("fenced code is copied, and the marks of footnotes") {
  const auto translated = [](const std::string& text) {
    std::vector<std::string> texts;
    for (const MarkedSegment& segment : read_plain_text(text).segments)
      texts.push_back(segment.text);
    return texts;
  };
  using Texts = std::vector<std::string>;
  CHECK(translated("One.\n```cpp\nreturn a;\n\n  if b\n```\nTwo.") == Texts{"One.", "Two."});
  CHECK(translated("~~~~\na\n~~~\n```\n~~~~\nTwo.") == Texts{"Two."});
  CHECK(translated("One.\n```\na\n").front() == "One.");
  CHECK(translated("```\nNot closed.") == Texts{"Not closed."});
  CHECK(translated("One\n~~~ two") == Texts{"One", "~~~ two"});
  const MarkedText note = read_plain_text("[^1]: A note.");
  CHECK(note.segments.front().before == "[^1]: ");
  CHECK(note.segments.front().text == "A note.");
}
