// Tests words in the place of placeholders.
#include "markup/stand_ins.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "markup/placement.h"

using namespace attn;

namespace {

/// Returns the text that a model sees for the only segment; "none" without stand-ins.
std::string seen(const MarkedText& text) {
  REQUIRE(text.segments.size() == 1);
  const auto made = with_stand_ins(text.segments.front());
  return made ? made->segment.text : "none";
}
std::string seen(const std::string& line) {
  return seen(read_plain_text(line));
}

/// Returns a text whose translation is itself.
std::string round_trip(const MarkedText& text) {
  std::string out;
  for (const MarkedSegment& segment : text.segments) {
    const auto made = with_stand_ins(segment);
    REQUIRE(made);
    REQUIRE(keeps_stand_ins(*made, made->segment.text));
    std::vector<AlignedSpan> spans;  // each byte is its own translation
    for (std::size_t i = 0; i < made->segment.text.size(); ++i)
      spans.push_back({i, i + 1, i, i + 1});
    out += segment.before +
           restore_placeholders(*made, place_markup(made->segment, made->segment.text, spans));
  }
  return out + text.tail;
}

}  // namespace

TEST_CASE("a model sees a word in the place of each placeholder") {
  CHECK(seen("Hello {name}, you have {n} messages.") == "Hello X1, you have X2 messages.");
  CHECK(seen("{0} sent you ({1}) a file.") == "X1 sent you (X2) a file.");
  CHECK(seen("I live in %s") == "I live in X1");
  CHECK(seen("{a}{b} is the sum of **{c}**.") == "X1 is the sum of X2.");
  CHECK(seen("X1 and {name}, X2") == "X1 and X3, X2");
  CHECK(seen(read_html("<p>You have <b>{n}</b> new <code>a b</code>\n files.</p>")) ==
        "You have X1 new X2 files.");
  CHECK(seen(read_html("{a}\n<b>Hello</b>&nbsp;{b}")) == "X1 Hello X2");
  for (const char* line : {"{n}px wide", "the pre{x}fix", "no placeholder", "a {b}{c}d"}) {
    CAPTURE(line);
    CHECK(seen(line) == "none");
  }
  std::string many = "a";
  for (int i = 0; i < 31; ++i) many += " {x}";
  CHECK(seen(many) == "none");
}

TEST_CASE("a translation keeps each word once, as a word") {
  const auto made = with_stand_ins(read_plain_text("Hello {a} and {b}").segments.front());
  REQUIRE(made);
  for (const char* kept : {"Hallo X1 und X2", "X2 X1", "X1s Haus, X2.", "(X1), X2"}) {
    CAPTURE(kept);
    CHECK(keeps_stand_ins(*made, kept));
  }
  for (const char* lost : {"Hallo X1", "X1 X1 X2", "X12 X2", "aX1 X2", "X1er X2", "X1 X2X2", ""}) {
    CAPTURE(lost);
    CHECK_FALSE(keeps_stand_ins(*made, lost));
  }
  CHECK(restore_placeholders(*made, "X2 X1 X12 X1") == "{b} {a} X12 X1");
}

TEST_CASE("the words are replaced, and everything else stays") {
  for (const std::string text :
       {"Hello {name}, you have **{n} messages**.", "{a} [b {c}](d)", "a {b}  c\td {e}"}) {
    CAPTURE(text);
    CHECK(round_trip(read_plain_text(text)) == text);
  }
  for (const std::string text : {"<p>You have <b>{n}</b> new <i>files in <code>a</code></i>.</p>",
                                 "{a}\nb &amp; {c}&nbsp;d"}) {
    CAPTURE(text);
    CHECK(round_trip(read_html(text)) == text);
  }
}

TEST_CASE("a space that the translation lacks does not move to the end") {
  const auto translated = [](const MarkedText& text, const std::string& translation) {
    REQUIRE(text.segments.size() == 1);
    const auto made = with_stand_ins(text.segments.front());
    REQUIRE(made);
    return text.segments.front().before +
           restore_placeholders(*made, place_markup(made->segment, translation, {})) + text.tail;
  };
  CHECK(translated(read_plain_text("%s items"), "X1-Elemente") == "%s-Elemente");
  CHECK(translated(read_plain_text("  %s items  "), "X1-Elemente") == "  %s-Elemente  ");
  CHECK(translated(read_plain_text("{n}  files!"), "X1-Dateien!") == "{n}-Dateien!");
  CHECK(translated(read_html("<b>%s items</b>"), "X1-Elemente") == "<b>%s-Elemente</b>");
  CHECK(translated(read_html("<p>%s\nitems </p>"), "X1-Elemente") == "<p>%s-Elemente </p>");
}

TEST_CASE("10,000 random lines with stand-ins keep their placeholders") {
  std::mt19937 random(7);
  const std::vector<std::string> pieces = {"{{a.b}}", "{0}", "%s", "<b>", "</b>", "word", "X1",
                                           ", ",      " ",   "  ", "**",  "\t",   "[",    "](u)"};
  int made_of = 0;
  for (int i = 0; i < 10'000; ++i) {
    std::string line = "a ";
    for (auto n = random() % 12; n > 0; --n) line += pieces[random() % pieces.size()];
    const bool html = random() % 2 == 0;
    const MarkedText text = html ? read_html(line) : read_plain_text(line);
    for (const MarkedSegment& segment : text.segments) {
      const auto made = with_stand_ins(segment);
      if (!made) continue;
      ++made_of;
      CAPTURE(line);
      std::string translation = "b.";
      for (const auto& [word, placeholder] : made->words) translation = word + " " + translation;
      REQUIRE(keeps_stand_ins(*made, translation));
      const std::string out =
          restore_placeholders(*made, place_markup(made->segment, translation, {}));
      CAPTURE(out);
      for (const MarkupItem& item : segment.items) {
        const bool space = item.bytes.find_first_not_of(" \t") == item.bytes.npos;
        if (!space) CHECK(out.find(item.bytes) != out.npos);
      }
      for (const auto& [word, placeholder] : made->words) {
        CHECK(line.find(word) == line.npos);
        CHECK(out.find(word) == out.npos);
      }
    }
  }
  CHECK(made_of > 2'000);
}
