// Tests line breaks, placeholders and HTML through the program with the shipped model.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "run_program.h"
#include "temporary_directory.h"

namespace attn::test {
namespace {

std::string translated(std::vector<std::string> args, const std::string& input = {}) {
  args.insert(args.begin(), "translate");
  const Result result = run_program({.args = args, .input = input});
  REQUIRE_MESSAGE(result.code == 0, result.err);
  return result.out;
}

/// Removes tags, and reduces the whitespace left by them to one space.
std::string without_tags(const std::string& html) {
  std::string text;
  bool inside = false;
  for (const char c : html) {
    if (c == '<') inside = true;
    if (!inside && (c != ' ' || (!text.empty() && text.back() != ' ' && text.back() != '\n'))) {
      text += c;
    }
    if (c == '>') inside = false;
  }
  return text;
}

}  // namespace

TEST_CASE("line breaks and whitespace around lines survive") {
  const std::string home = "Die Gruppe ging nach Hause";
  CHECK(translated({"--show", "none", "The group went home\r\n\n  The group went home"}) ==
        home + "\r\n\n  " + home + "\n");
  CHECK(translated({}, "\tThe group went home \n\nThe group went home\n") ==
        "\t" + home + " \n\n" + home + "\n");
  CHECK(translated({}, "The group went home\n") == home + "\n");
  CHECK(translated({}, "\xEF\xBB\xBFThe group went home\n") == home + "\n");
  for (const std::string end : {"\u0085", "\u2029"}) {
    CHECK(translated({}, "The group went home" + end + "The group went home\n") ==
          home + end + home + "\n");
  }
}

TEST_CASE("placeholders and Markdown survive, and a note says so") {
  const Result result =
      run_program({.args = {"translate", "--keep", "AB-[0-9]+"},
                   .input = "{{name}}, the **group** went home with AB-12 and %s.\n{0}: {1}\n"});
  CHECK(result.code == 0);
  for (const char* kept : {"{{name}}", "**Gruppe", "AB-12", "%s", "\n{0}: {1}\n"}) {
    CAPTURE(result.out);
    CHECK(result.out.find(kept) != std::string::npos);
  }
  CHECK(result.err ==
        "note: 2 tags and 5 placeholders kept: taken out before the translation and put back into "
        "it\n");
  const Result wrong = run_program({.args = {"translate", "--keep", "a(", "x"}});
  CHECK(wrong.code == 2);
  CHECK(wrong.err ==
        "attn-demo: --keep \"a(\" is not a valid regular expression (U_REGEX_MISMATCHED_PAREN); "
        "\\Q…\\E matches a text literally\n");
}

TEST_CASE("a term in text that is kept has a note") {
  const Result result = run_program({.args = {"translate", "--term", "house=Heim", "--keep",
                                              "house", "--show", "none", "The house is big."}});
  CHECK(result.code == 0);
  CHECK(result.err.find("note: term house=Heim: no translation contains it") != std::string::npos);
}

TEST_CASE("--html-input keeps the document") {
  const std::string html =
      "<!DOCTYPE html>\n<p class=\"a>b\">The <b>group</b> went home</p>\n<pre>x  = 1</pre>\n"
      "<ul><li>The group went home<li><code>f(x)</code></ul>\n<!-- end -->\n";
  CHECK(
      translated({"--html-input"}, html) ==
      "<!DOCTYPE html>\n<p class=\"a>b\">Die <b>Gruppe</b> ging nach Hause</p>\n<pre>x  = 1</pre>\n"
      "<ul><li>Die Gruppe ging nach Hause<li><code>f(x)</code></ul>\n<!-- end -->\n");
  const TemporaryDirectory directory;
  directory.write("x.html", html);
  CHECK(translated({"--html-input", "--input", directory.file("x.html")}, "") ==
        translated({"--html-input"}, html));
  const Result wrong = run_program({.args = {"translate", "--html-input", "--target", "x", "y"}});
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("--html-input cannot be combined with --target") != std::string::npos);
}

TEST_CASE("without tags a translation is that of the text without tags") {
  const std::vector<std::string> words = {"the",  "group", "went", "home", "with", "old",
                                          "dogs", "and",   "we",   "saw",  "a",    "house"};
  std::mt19937 random(3);
  std::string html, plain;
  for (int line = 0; line < 120; ++line) {
    html += "<p>";
    std::vector<std::string> open;
    for (int i = 0; i < 9; ++i) {
      const std::string space = i > 0 ? " " : "";
      html += space;
      plain += space;
      if (random() % 3 == 0) html += "<" + open.emplace_back(random() % 2 == 0 ? "b" : "i") + ">";
      const std::string word = words[random() % words.size()];
      html += word;
      plain += word;
      while (!open.empty() && random() % 2 == 0) {
        html += "</" + open.back() + ">";
        open.pop_back();
      }
      if (random() % 9 == 0) html += "<wbr>";
    }
    for (; !open.empty(); open.pop_back()) html += "</" + open.back() + ">";
    html += "</p>\n";
    plain += "\n";
  }
  CHECK(without_tags(translated({"--html-input"}, html)) == translated({}, plain));
}

}  // namespace attn::test
