// Tests markup put back into translations: invariants that hold for any markup and any alignment.
#include "markup/placement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "markup/html_tokenizer.h"
#include "markup/text_layout.h"

using namespace attn;

namespace {

/// Links the words of two texts: {target word, source word}, counted from 0.
std::vector<AlignedSpan> links(const std::string& source, const std::string& target,
                               const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  const auto words = [](const std::string& text) {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = text.find_first_not_of(' ', at);
      if (begin == text.npos) break;
      at = std::min(text.find(' ', begin), text.size());
      found.emplace_back(begin, at);
    }
    return found;
  };
  const auto from = words(source), to = words(target);
  std::vector<AlignedSpan> spans;
  for (const auto& [t, s] : pairs) {
    if (t >= to.size() || s >= from.size()) continue;
    spans.push_back({to[t].first, to[t].second, from[s].first, from[s].second, 0.5F});
  }
  return spans;
}

/// Translates the only segment of a text with a translation and links.
std::string placed(const MarkedText& text, const std::string& translation,
                   const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  REQUIRE(text.segments.size() == 1);
  const MarkedSegment& segment = text.segments.front();
  return segment.before +
         place_markup(segment, translation, links(segment.text, translation, pairs)) + text.tail;
}

std::string collapsed(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (!is_ascii_space(c))
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

using Tags = std::map<std::string, int>;

Tags tags_of(const std::string& html) {
  Tags tags;
  for (const HtmlToken& token : tokenize_html(html)) {
    if (token.type != HtmlTokenType::text) ++tags[std::string(token.bytes)];
  }
  return tags;
}

/// Returns the text of HTML without tags, with characters instead of entities.
std::string text_of(const std::string& html) {
  std::string text;
  for (const HtmlToken& token : tokenize_html(html)) {
    if (token.type != HtmlTokenType::text) continue;
    for (std::size_t at = 0; at < token.bytes.size();) {
      std::size_t length = 0;
      const std::string character = decode_entity(token.bytes.substr(at), length);
      text += length > 0 ? character : std::string(token.bytes.substr(at, 1));
      at += std::max<std::size_t>(1, length);
    }
  }
  return text;
}

bool is_nested(const std::string& html) {
  std::vector<std::string> open;
  for (const HtmlToken& token : tokenize_html(html)) {
    if (token.type == HtmlTokenType::open) open.push_back(token.name);
    if (token.type != HtmlTokenType::close) continue;
    if (open.empty() || open.back() != token.name) return false;
    open.pop_back();
  }
  return open.empty();
}

/// Generates fragments of HTML.
class Fragments {
 public:
  explicit Fragments(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t count) { return random_() % count; }

  std::string inline_html(int depth) {
    static const std::vector<std::string> words = {
        "the", "house", "is", "big,", "1,000", "(so)", "&amp;", "Tom&#39;s", "red.", "f&uuml;r"};
    static const std::vector<std::string> points = {"<img src='a>b'>", "<!-- c > d -->", "<wbr>",
                                                    "<embed value=\"<b>\">"};
    std::string html;
    for (std::size_t i = below(5); i < 5; ++i) {
      if (below(3) > 0) html += below(6) == 0 ? "  " : " ";
      const std::size_t what = below(8);
      if (what == 0 && depth > 0) {
        const std::string name = std::vector<std::string>{"b", "i", "A", "span"}[below(4)];
        html += "<" + name + " x=" + std::to_string(counter_++) + ">" + inline_html(depth - 1) +
                "</" + name + ">";
      } else if (what == 1) {
        html += points[below(points.size())];
      } else {
        html += words[below(words.size())];
      }
    }
    return html;
  }

  std::string translation() {
    static const std::vector<std::string> words = {"das", "Haus", "ist",  "groß,", "1,000",
                                                   "&",   "<",    "rot.", "(so)"};
    std::string text;
    for (std::size_t i = below(9); i < 9; ++i) {
      text += (text.empty() ? "" : " ") + words[below(words.size())];
    }
    return text;
  }

  std::vector<std::pair<std::size_t, std::size_t>> alignment() {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = below(20); i < 20; ++i) pairs.emplace_back(below(10), below(30));
    return pairs;
  }

 private:
  std::mt19937 random_;
  int counter_ = 0;
};

}  // namespace

TEST_CASE("an element goes where its words go") {
  const MarkedText text = read_html("I have <b>not</b> seen <a href='x'>the red house</a>.");
  REQUIRE(text.segments.front().text == "I have not seen the red house.");
  CHECK(placed(text, "Ich habe das rote Haus nicht gesehen.",
               {{0, 0}, {1, 1}, {2, 4}, {3, 5}, {4, 6}, {5, 2}, {6, 3}}) ==
        "Ich habe <a href='x'>das rote Haus</a> <b>nicht</b> gesehen.");
}

TEST_CASE("an element with all words keeps all of them, and text at its ends") {
  CHECK(placed(read_html(" <p> <b>Hello there.</b> </p> "), "Hallo du.", {}) ==
        " <p> <b>Hallo du.</b> </p> ");
  CHECK(placed(read_html("<i><b>Hello</b></i>."), "Hallo.", {}) == "<i><b>Hallo</b></i>.");
}

TEST_CASE("tags stay inside a word that is the same in the translation") {
  CHECK(placed(read_html("Water is H<sub>2</sub>O."), "Wasser ist H2O.", {{0, 0}, {1, 1}}) ==
        "Wasser ist H<sub>2</sub>O.");
  CHECK(placed(read_html("a<i>b</i>c d"), "d abc", {}) == "d a<i>b</i>c");
}

TEST_CASE("controls of forms cut the text") {
  const MarkedText text = read_html("<label>Name <input></label> <button>Save</button> it");
  REQUIRE(text.segments.size() == 3);
  CHECK(text.segments[0].text == "Name");
  CHECK(text.segments[1].text == "Save");
}

TEST_CASE("a CDATA section is copied whole") {
  const std::string cdata = "<![CDATA[<b>raw</b> ]>]]>";
  const MarkedText text = read_html("<p>The dog " + cdata + " sleeps.</p>");
  CHECK(text.segments.front().text == "The dog sleeps.");
  CHECK(placed(text, "Der Hund schläft.", {{0, 0}, {1, 1}, {2, 2}}) ==
        "<p>Der Hund " + cdata + " schläft.</p>");
  CHECK(tags_of("<![CDATA[a>b") == Tags{{"<![CDATA[a>", 1}});
}

TEST_CASE("an element that continues in another segment stays open") {
  const MarkedText text = read_html("a <b>one<br>two</b> c");
  REQUIRE(text.segments.size() == 2);
  CHECK(place_markup(text.segments[0], "eins A", links("a one", "eins A", {{0, 1}, {1, 0}})) ==
        "<b>eins A");
  CHECK(text.segments[1].before == "<br>");
  CHECK(place_markup(text.segments[1], "C zwei", links("two c", "C zwei", {{0, 1}, {1, 0}})) ==
        "C zwei</b>");
}

TEST_CASE("entities are written as in the source, and the rest is escaped") {
  CHECK(placed(read_html("Fish &amp; chips f&uuml;r <b>&euro;</b>5"), "Fisch & Chips für €5 <",
               {}) == "Fisch &amp; Chips f&uuml;r <b>&euro;</b>5 &lt;");
  CHECK(placed(read_html("10&nbsp;km &unknown; far"), "10 km weit", {{2, 2}}) ==
        "10&nbsp;km &unknown; weit");
}

TEST_CASE("placeholders keep the spaces and the punctuation beside them") {
  const MarkedText hello = read_plain_text("Hello {{customer.name}}, your order ({0}) is ready.");
  CHECK(hello.segments.front().text == "Hello, your order () is ready.");
  CHECK(placed(hello, "Hallo, Ihre Bestellung () ist fertig.",
               {{0, 0}, {1, 1}, {2, 2}, {4, 4}, {5, 5}}) ==
        "Hallo {{customer.name}}, Ihre Bestellung ({0}) ist fertig.");
  CHECK(placed(read_plain_text("{n} files in %s."), "Dateien in.", {{0, 0}, {1, 1}}) ==
        "{n} Dateien in %s.");
  CHECK(placed(read_plain_text("See [the page](https://x.org) **now**!"), "Siehe jetzt die Seite!",
               {{0, 0}, {1, 3}, {2, 1}, {3, 2}}) == "Siehe **jetzt** [die Seite](https://x.org)!");
}

TEST_CASE("text that is not translated stays as it is") {
  for (const std::string html :
       {"<script>a < b && 'x'</script>", "<style>p { }</style>", "<pre> a\n\n b <b>c</b></pre>",
        "<p translate=no>Name</p>", "<!DOCTYPE html>", "<td>  </td>",
        "<code>a<code>b</code></code>", "<div class='x notranslate'>a</div>", "<b></b>&nbsp;",
        "a <b", "<!-- a", "{0}: {1}", ""}) {
    CAPTURE(html);
    const MarkedText text = read_html(html == "a <b" ? "<b" : html);
    CHECK(text.segments.empty());
    CHECK(text.tail == (html == "a <b" ? "<b" : html));
  }
  const MarkedText code =
      read_html("Call <code>f(x)</code> <span translate=\"no\">Foo Bar</span> now");
  CHECK(code.segments.front().text == "Call now");
  CHECK(code.counts.placeholders == 2);
}

TEST_CASE("links to addresses, marks of footnotes and code of templates are whole") {
  const auto tokens = [](const std::string& html) {
    std::string out;
    for (const HtmlToken& token : tokenize_html(html)) {
      out += token.type == HtmlTokenType::text                          ? std::string(token.bytes)
             : token.type == HtmlTokenType::point && token.untranslated ? "P"
             : token.type == HtmlTokenType::point                       ? "p"
                                                                        : "t";
    }
    return out;
  };
  CHECK(tokens("See <a href='x'><span>https://</span><span>x.org</span></a>.") == "See P.");
  CHECK(tokens("<a href='x'>@<span>user</span></a> <a href='y' rel='tag'>#<span>tag</span></a>") ==
        "P P");
  CHECK(tokens("<a href='x'>the page</a>") == "tthe paget");
  CHECK(tokens("<a href='x'>a@b.org <b>c</b></a>") == "ta@b.org tctt");
  CHECK(tokens("so.<sup>1</sup> And<sup><a href='#2'>[2]</a></sup>") == "so.p Andp");
  CHECK(tokens("H<sub>2</sub>O x<sup>th</sup>") == "Ht2tO xttht");
  CHECK(tokens("a <%= f(\"<b>\") %> b <?php if ($a > 3) ?> c") == "a P b P c");
  CHECK(tokens("<a href='x'>@user") == "t@user");
}

TEST_CASE("blocks cut the text and inline elements do not") {
  const MarkedText text = read_html(
      "<h1>A b</h1><p>c <em>d</em> e<br/>f</p>\n<ul><li>g<li>h</ul>i\n\nj<unknown>k</unknown>");
  std::vector<std::string> lines;
  for (const MarkedSegment& segment : text.segments) lines.push_back(segment.text);
  CHECK(lines == std::vector<std::string>{"A b", "c d e", "f", "g", "h", "i", "jk"});
}

TEST_CASE("10,000 random fragments keep their tags, their nesting and the translation") {
  Fragments fragments(7);
  int inside = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string html = fragments.inline_html(3);
    const MarkedText text = read_html(html);
    if (text.segments.empty()) continue;
    const std::string translation = fragments.translation();
    const std::string out = placed(text, translation, fragments.alignment());
    CAPTURE(html);
    CAPTURE(translation);
    CAPTURE(out);
    inside += text.segments.front().items_are_outside() ? 0 : 1;
    CHECK(tags_of(out) == tags_of(html));
    CHECK(is_nested(out));
    CHECK(collapsed(text_of(out)) == collapsed(translation));
  }
  CHECK(inside > 3'000);
}

TEST_CASE("10,000 random broken fragments keep their tags") {
  std::mt19937 random(11);
  const std::vector<std::string> pieces = {"<b>", "</b>", "<i>",  "</i>",  "<p>",  "</p>",  "word ",
                                           " x",  ".",    "<br>", "{{a}}", "%s",   " ",     "<!-->",
                                           "</",  "<a b", "&amp", "&lt;",  "\n\n", "<code>"};
  for (int i = 0; i < 10'000; ++i) {
    std::string html;
    for (auto n = random() % 12; n > 0; --n) html += pieces[random() % pieces.size()];
    const MarkedText text = read_html(html);
    std::string out;
    for (const MarkedSegment& segment : text.segments) {
      out += segment.before + place_markup(segment, "ein zwei Wort.",
                                           links(segment.text, "ein zwei Wort.",
                                                 {{0, random() % 3}, {2, random() % 3}}));
    }
    out += text.tail;
    CAPTURE(html);
    CAPTURE(out);
    CHECK(tags_of(out) == tags_of(html));
  }
}

TEST_CASE("10,000 random lines keep their placeholders") {
  std::mt19937 random(5);
  const std::vector<std::string> pieces = {"{{a.b}}", "{0}", "%s", "${x}", "word", "Tom", ", ",
                                           " ",       " ",   ".",  "**",   "__",   "[",   "](u)"};
  for (int i = 0; i < 10'000; ++i) {
    std::string line = "a";
    for (auto n = random() % 12; n > 0; --n) line += pieces[random() % pieces.size()];
    const MarkedText text = read_plain_text(line);
    std::string out;
    for (const MarkedSegment& segment : text.segments) {
      out += segment.before;
      out += place_markup(segment, "ein Tom Wort.",
                          links(segment.text, "ein Tom Wort.", {{0, random() % 3}, {2, 0}}));
    }
    out += text.tail;
    CAPTURE(line);
    CAPTURE(out);
    for (const char* placeholder : {"{{a.b}}", "{0}", "%s", "${x}"}) {
      const auto count = [&](const std::string& where) {
        int found = 0;
        for (std::size_t at = where.find(placeholder); at != where.npos;
             at = where.find(placeholder, at + 1)) {
          ++found;
        }
        return found;
      };
      CHECK(count(out) == count(line));
    }
  }
}

TEST_CASE("deep nesting and megabytes of markup take bounded time") {
  const auto repeated = [](const std::string& piece, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += piece;
    return text;
  };
  for (const std::string piece :
       {"<b>", "<b>x ", "</b>", "<b></i>", "<b>x</b>", "<", "<!--", "<a b='", "&", "<code>", "<p>a",
        "<title>", "<i>a<b>b</i>c</b> ", "{", "</x <b ", "<script>", "<pre><pre>"}) {
    CAPTURE(piece);
    const std::string html = repeated(piece, 1'000'000) + "z";
    const MarkedText text = read_html(html);
    std::size_t bytes = text.tail.size();
    for (const MarkedSegment& segment : text.segments) {
      bytes += segment.before.size() + place_markup(segment, segment.text, {}).size();
    }
    CHECK(bytes >= html.size());
  }
}
