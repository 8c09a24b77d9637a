// Tests placeholders and Markdown found in text.
#include "markup/placeholders.h"

#include <doctest/doctest.h>

#include <string>

#include "base/error.h"
#include "markup/keep_patterns.h"

using namespace attn;

namespace {

/// Puts bars around each match: "Hello |{name}|!".
std::string marked(const std::string& text, bool markdown = true,
                   const SpanFinder& more = nullptr) {
  std::string out;
  std::size_t at = 0;
  for (const MarkupSpan& span : find_placeholders(text, markdown, more)) {
    REQUIRE(span.begin >= at);
    REQUIRE(span.end > span.begin);
    const bool one = span.type == SpanType::open || span.type == SpanType::close;
    const char* sides = one ? "()" : "||";
    out += text.substr(at, span.begin - at);
    if (!one || span.type == SpanType::open) out += sides[0];
    out += text.substr(span.begin, span.end - span.begin);
    if (!one || span.type == SpanType::close) out += sides[1];
    at = span.end;
  }
  return out + text.substr(at);
}

}  // namespace

TEST_CASE("placeholders of programs are found whole") {
  for (const std::string inner : {"{0}",
                                  "{}",
                                  "{name}",
                                  "{user.name}",
                                  "{price:.2f}",
                                  "{0,10:C}",
                                  "{{customer.name}}",
                                  "{{{raw}}}",
                                  "{% if a %}",
                                  "{# note #}",
                                  "${x}",
                                  "${a.b[0]}",
                                  "#{x}",
                                  "%{count}",
                                  "@{x}",
                                  "%(name)s",
                                  "%(n)03d",
                                  "%<name>s",
                                  "%<count>d",
                                  "%<x>.2f",
                                  "%s",
                                  "%d",
                                  "%1$s",
                                  "%.2f",
                                  "%@",
                                  "%ld",
                                  "%%",
                                  "%1",
                                  "%NAME%",
                                  "{count, plural, one {# file} other {# files}}",
                                  "{n, select, a {x} other {{m}}}",
                                  "{ name }",
                                  "{{ a | b }}",
                                  "<https://example.org/a?b>",
                                  "`x = y`",
                                  "``a ` b``",
                                  "[^1]",
                                  "[^note-a]",
                                  "![alt](pic.png)",
                                  "<%= user.name %>",
                                  "<?php echo \"a > b\"; ?>",
                                  "[% name %]",
                                  "$name",
                                  "$user.name",
                                  "$NAME$",
                                  "$(name)",
                                  "$((1 + 2))",
                                  "%%name%%",
                                  "%recipient.name%",
                                  "[[name]]",
                                  "<<First Name>>",
                                  "*|FNAME|*",
                                  "##name##",
                                  "@@name@@",
                                  "#name#",
                                  "[first_name]",
                                  ":name",
                                  ":smile:",
                                  "@anna_b",
                                  "#OneTopic",
                                  "<name>",
                                  "https://x.org/a_(b)?c=d&e#f",
                                  "www.example.org",
                                  "first.last+x@mail.example.co.uk"}) {
    CHECK(marked("Hello " + inner + " there") == "Hello |" + inner + "| there");
    CHECK(marked(inner) == "|" + inner + "|");
  }
  CHECK(marked("{0}{1}") == "|{0}||{1}|");
  CHECK(marked("%s%s") == "|%s||%s|");
  CHECK(marked("a%sb %dpx") == "a|%s|b |%d|px");
  CHECK(marked("%<a>s<b>x</b> 50%<b>off</b>") == "|%<a>s|(<b>x</b>) 50%(<b>off</b>)");
  CHECK(marked("({0})") == "(|{0}|)");
  CHECK(marked("(see https://x.org/a.), www.y.org!") == "(see |https://x.org/a|.), |www.y.org|!");
  CHECK(marked("to a@b.org. Go") == "to |a@b.org|. Go");
}

TEST_CASE("ordinary text holds no placeholders") {
  for (const std::string text : {"100% of them",
                                 "5 % discount",
                                 "50%(approx) of",
                                 "a {b c} d",
                                 "a } b {",
                                 "3 * 4 * 5",
                                 "snake_case_name",
                                 "a < b",
                                 "Price* and tax*",
                                 "Name: ___ Date: ___",
                                 "[1] and [2]",
                                 "it costs $5",
                                 "~5 and ~6",
                                 "``quoted''",
                                 "[see below] (or above)",
                                 "** a ** b",
                                 "x_1 and y_2",
                                 "100%discount",
                                 "50%on 60%off",
                                 "at 10:30",
                                 "C# and F#",
                                 "a <b and c> d",
                                 "US$5",
                                 "5 @ 3",

                                 "Note: this",
                                 "a[i_",
                                 "<< and >>",
                                 "<%",
                                 "www.",
                                 "a@b",
                                 "$",
                                 "[NATO] [sic]",
                                 "fill <extra_id_0> and <mask>",
                                 "<2de> Hello",
                                 "a </s> b",
                                 "<unk>"}) {
    CAPTURE(text);
    CHECK(find_placeholders(text, true).empty());
  }
}

TEST_CASE("Markdown's pairs are found and nested") {
  CHECK(marked("see [the page](https://x.org/a_(b)) now") ==
        "see ([the page](https://x.org/a_(b))) now");
  CHECK(marked("**bold** and __the page__") == "(**bold**) and (__the page__)");
  CHECK(marked("*a* _b_ ~~c~~ ***d***") == "(*a*) (_b_) (~~c~~) (***d***)");
  CHECK(marked("**a _b_**") == "(**a (_b_)**)");
  CHECK(marked("[a **b**](c)") == "([a (**b**)](c))");
  CHECK(marked("**a [b** c](d)") == "(**a [b**) c](d)");
  CHECK(marked("[a][ref]") == "([a][ref])");
  CHECK(marked("[[page|a **b**]] c") == "([[page|a (**b**)]]) c");
  CHECK(marked("[[a]](b)") == "([[a]](b))");
  CHECK(marked("<b>a <i class='x'>b</i></b> <0>c</0>") ==
        "(<b>a (<i class='x'>b</i>)</b>) (<0>c</0>)");
  CHECK(marked("**a <b>b** c</b>") == "(**a |<b>|b**) c|</b>|");
  CHECK(marked("a<br>b</i> <x/>") == "a|<br>|b|</i>| |<x/>|");
  CHECK(marked("**a") == "**a");
  CHECK(marked("**{x}**") == "(**|{x}|**)");
  CHECK(marked("**bold** {x}", false) == "**bold** |{x}|");
}

TEST_CASE("patterns of --keep are found first") {
  const KeepPatterns patterns({"[A-Z]+-[0-9]+", "\\bfoo\\b", "A-[0-9]"});
  const SpanFinder keep = [&](std::string_view text) { return patterns.find(text); };
  CHECK(marked("see ABC-12, A-12, foo, food {x}", true, keep) ==
        "see |ABC-12|, |A-12|, |foo|, food |{x}|");
  CHECK(marked("**ABC-1**", true, keep) == "(**|ABC-1|**)");
  const KeepPatterns inside({"lo\\}"});
  CHECK(marked("{hello} x", true, [&](std::string_view text) { return inside.find(text); }) ==
        "{hel|lo}| x");
  CHECK_THROWS_WITH_AS(
      KeepPatterns({"a("}),
      doctest::Contains("\"a(\" is not a valid regular expression (U_REGEX_MISMATCHED_PAREN)"),
      UsageError);
  CHECK_THROWS_AS(KeepPatterns({""}), UsageError);
}

TEST_CASE("a pattern that takes too long is an error") {
  const KeepPatterns slow({"(a+)+b"});
  CHECK_THROWS_WITH_AS(slow.find(std::string(60, 'a')),
                       doctest::Contains("too much time or memory"), InputError);
}

TEST_CASE("hostile text takes linear time") {
  for (const std::string piece : {"{", "}", "[", "]", "(", "*", "_ ", "`", "``` `", "%(", "${",
                                  "<h", "[a](", "**a ", "*a **b ", "![", "{{", "a** ", "[]("}) {
    std::string text;
    while (text.size() < 1'000'000) text += piece;
    CAPTURE(piece);
    CHECK(find_placeholders(text, true).size() <= text.size());
  }
}
