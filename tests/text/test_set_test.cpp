// Tests test sets in SGML, XML, TMX and tables: recognized by content, read strictly.
#include <doctest/doctest.h>

#include "check_error.h"
#include "text/test_set/test_set.h"

namespace attn {
namespace {

using Lines = std::vector<std::string>;

/// Returns the lines of the first text with a role; {"plain"} for a plain file.
Lines lines_of(const std::string& bytes, TextRole role, const std::string& path = "file") {
  const std::optional<RoleTexts> found = texts_of_role(bytes, path, role);
  return found ? found->texts.front().lines : Lines{"plain"};
}

void refuse(const std::string& bytes, const std::string& part, const std::string& path = "file",
            TextRole role = TextRole::source) {
  INFO(bytes);
  test::check_error([&] { texts_of_role(bytes, path, role); }, ExitCode::input, part);
}

std::string sgml(const std::string& segments) {
  return "<srcset setid=\"t\" srclang=\"en\">\n<doc docid=\"a\">\n" + segments +
         "</doc>\n</srcset>\n";
}

std::string wmt_xml(const std::string& texts) {
  return "<?xml version='1.0' encoding='utf-8'?>\n<dataset id=\"t\">\n<doc id=\"a\">\n" + texts +
         "</doc>\n</dataset>\n";
}

std::string tmx(const std::string& units, const std::string& language = "en") {
  return "<?xml version=\"1.0\"?>\n<!DOCTYPE tmx SYSTEM \"tmx14.dtd\">\n<tmx version=\"1.4\">"
         "<header srclang=\"" +
         language + "\"><note>made by hand</note></header><body>" + units + "</body></tmx>\n";
}

std::string unit(const std::string& english, const std::string& german) {
  return "<tu><prop type=\"x\">7</prop><tuv xml:lang=\"en\"><seg>" + english +
         "</seg></tuv><tuv xml:lang=\"de\"><seg>" + german + "</seg></tuv></tu>\n";
}

const std::string kSourceSet =
    "<src lang=\"en\"><p><seg id=\"1\">One &amp; two</seg></p>"
    "<p><seg id=\"2\"> Three\n four </seg></p></src>\n";

}  // namespace

TEST_CASE("WMT's SGML: segments in any paragraph, loose names, attributes and ampersands") {
  const Lines expected{"A head", "R&D costs 5 < 6 & <b>more</b>", "ä\"A", ""};
  CHECK(lines_of(sgml("<hl>\n<seg id=\"1\">A head</seg>\n</hl>\n<p>\n"
                      "<seg id=\"2\"> R&D costs\n 5 < 6 &amp; <b>more</b> </seg>\n"
                      "<SEG ID=3>&#228;&quot;&#x41;</SEG><seg id='4'></seg>\n</p>\n"),
                 TextRole::source) == expected);
  CHECK(lines_of("\xEF\xBB\xBF\n<!DOCTYPE srcset SYSTEM \"mteval.dtd\">\n<!-- c -->\n<SRCSET>"
                 "<DOC DocID=\"x\"><seg id=\"1\">One</seg></doc></SrcSet>",
                 TextRole::source) == Lines{"One"});
}

TEST_CASE("SGML that is not closed, cut off or has text outside of segments is refused") {
  refuse(sgml("<seg id=\"1\">One\n<seg id=\"2\">Two</seg>\n"),
         "file:3: <seg> has no end, </seg>, before <seg");
  refuse(sgml("<seg id=\"1\">One\n"), "<seg> has no end");
  refuse(sgml("<p><seg id=\"1\">One</seg>\n"), "found </doc>, expected </p>");
  refuse(sgml("A headline\n"), "found \"A headline\" outside of <seg>");
  refuse("<srcset><doc docid=\"a\"><seg id=\"1\">One</seg>", "the file ends inside of <doc>");
  refuse("<srcset><seg id=\"1\">One</seg></srcset>", "found <seg> outside of a document's <doc>");
  refuse("<srcset><doc docid=\"a><seg id=\"1\">One</seg></doc></srcset>", "quotation mark");
  refuse("<!DOCTYPE srcset [ ]><srcset></srcset>", "document type inside");
  refuse(sgml("<seg id=\"1\">\xFF</seg>"), "file:3: not valid UTF-8");
  refuse(sgml("<seg id=\"1\">One</seg>") + "more", "text outside of all elements");
}

TEST_CASE("SGML: each system of a reference set is one reference, incomplete ones are left out") {
  const auto document = [](const std::string& id, const std::string& system,
                           const std::string& text) {
    return "<doc docid=\"" + id + "\" sysid=\"" + system + "\"><seg id=\"1\">" + text +
           "</seg></doc>";
  };
  const std::string set = "<refset setid=\"t\" trglang=\"de\">" + document("a", "A", "Eins") +
                          document("b", "A", "Zwei") + document("a", "B", "1") +
                          document("a", "C", "I") + document("b", "C", "II") + "</refset>";
  const auto found = texts_of_role(set, "ref.sgm", TextRole::reference);
  REQUIRE(found);
  REQUIRE(found->texts.size() == 2);
  CHECK(found->texts[0].lines == Lines{"Eins", "Zwei"});
  CHECK(found->texts[1].lines == Lines{"I", "II"});
  CHECK(found->note ==
        "ref.sgm: read as WMT SGML, 2 segments; B has 1 of 2 segments and is left out; 2 "
        "references");
  refuse(set, "ref.sgm: WMT SGML without a complete source (it has: reference", "ref.sgm");
}

TEST_CASE("WMT's XML: sources, references by translator, hypotheses by system") {
  const std::string both = wmt_xml(
      kSourceSet +
      "<ref lang=\"de\" translator=\"A\"><p><seg id=\"1\">Eins</seg><seg id=\"2\">Drei</seg></p>"
      "</ref>\n<hyp system=\"S\"><p><seg id=\"1\">1</seg><seg id=\"2\">3</seg></p></hyp>\n");
  CHECK(lines_of(both, TextRole::source) == Lines{"One & two", "Three four"});
  CHECK(lines_of(both, TextRole::reference) == Lines{"Eins", "Drei"});
  CHECK(lines_of(both, TextRole::hypothesis) == Lines{"1", "3"});
  refuse(wmt_xml(kSourceSet), "without a complete reference", "file", TextRole::reference);
  refuse(wmt_xml(kSourceSet + "<ref><p><seg id=\"1\">Eins</seg></p></ref>"),
         "without a complete reference", "file", TextRole::reference);
  refuse(wmt_xml("<hyp system=\"S\"><seg id=\"1\">1</seg></hyp>"
                 "<hyp system=\"T\"><seg id=\"1\">2</seg></hyp>"),
         "with 2 systems, expected one", "file", TextRole::hypothesis);
}

TEST_CASE("XML that is not well-formed, has entities or is another format is refused") {
  refuse(wmt_xml("<src><p><seg id=\"1\">One & two</seg></p></src>"), "file:4: not well-formed XML");
  refuse(
      "<?xml version='1.0'?>\n<!DOCTYPE dataset [<!ENTITY a SYSTEM \"/etc/passwd\">]>\n"
      "<dataset><doc id=\"a\"><src><seg id=\"1\">&a;</seg></src></doc></dataset>",
      "file:2: declares an entity");
  refuse(
      "<!DOCTYPE dataset SYSTEM \"x.dtd\"><dataset><doc id=\"a\"><src><seg id=\"1\">&a;</seg>"
      "</src></doc></dataset>",
      "uses the entity &a;");
  refuse(wmt_xml("<src><p><seg id=\"1\">One <b>two</b></seg></p></src>"),
         "found <b> inside of <seg>");
  refuse(wmt_xml("<src>One</src>"), "outside of <seg>");
  refuse("<?xml version='1.0'?><xliff/>", "root element <xliff>, expected a WMT test set");
  refuse("<xliff>\n<file/>\n</xliff>\n", "root element <xliff>");
  refuse("<!DOCTYPE html>\n<html></html>", "root element <html>");
  refuse("<html>\n<br>not closed", "root element <html>");
  refuse("<seg id='1'>One</seg>\n<seg id='2'>Two</seg>\n", "root element <seg>");
  refuse("<a xmlns='urn:x'>One</a>", "root element <a>");
  std::string deep = "<?xml version='1.0'?><dataset>";
  for (int i = 0; i < 200; ++i) deep += "<p>";
  refuse(deep, "nested more than 100 deep");
}

TEST_CASE("TMX: the header's language is the source, codes are dropped, marked text is kept") {
  const std::string units =
      unit("A <bpt i=\"1\">{\\b <sub>no</sub></bpt>bold<ept i=\"1\">}</ept> <hi>word</hi>", "Ein") +
      unit("Two", "Zwei");
  CHECK(lines_of(tmx(units), TextRole::source) == Lines{"A bold word", "Two"});
  CHECK(lines_of(tmx(units), TextRole::reference) == Lines{"Ein", "Zwei"});
  CHECK(lines_of(tmx(units, "de"), TextRole::source) == Lines{"Ein", "Zwei"});
  CHECK(lines_of(tmx(units, "*all*"), TextRole::source) == Lines{"A bold word", "Two"});
  const auto found =
      texts_of_role(tmx(units + "<tu><tuv xml:lang=\"en\"><seg>Alone</seg></tuv></tu>"), "m.tmx",
                    TextRole::source);
  REQUIRE(found);
  CHECK(found->texts[0].lines.size() == 2);
  CHECK(found->note == "m.tmx: read as TMX, 2 segments; 1 unit without both languages left out");
  refuse(tmx("<tu><tuv xml:lang=\"fr\"><seg>Un</seg></tuv></tu>" + units), "found 3 languages");
  refuse(tmx("<tu><tuv><seg>Un</seg></tuv></tu>"), "without a language");
  const std::string regions =
      "<tu><tuv xml:lang=\"en-US\"><seg>One</seg></tuv><tuv "
      "xml:lang=\"de-DE\"><seg>Eins</seg></tuv></tu>"
      "<tu><tuv xml:lang=\"DE\"><seg>Zwei</seg></tuv><tuv "
      "xml:lang=\"en_GB\"><seg>Two</seg></tuv></tu>";
  CHECK(lines_of(tmx(regions), TextRole::source) == Lines{"One", "Two"});
  CHECK(lines_of(tmx(regions), TextRole::reference) == Lines{"Eins", "Zwei"});
}

TEST_CASE("a table has two columns in every line; a name with .tsv must be one") {
  const std::string table = "one\teins\ntwo\tzwei\n\nthree\tdrei\n";
  CHECK(lines_of(table, TextRole::source) == Lines{"one", "two", "", "three"});
  CHECK(lines_of(table, TextRole::reference) == Lines{"eins", "zwei", "", "drei"});
  CHECK(lines_of("one\teins\ntwo zwei\n", TextRole::source) == Lines{"plain"});
  CHECK(lines_of("one\teins\tun\n", TextRole::source) == Lines{"plain"});
  CHECK(lines_of("one\teins\n", TextRole::source) == Lines{"plain"});
  CHECK(lines_of("one\teins\n", TextRole::source, "x.tsv") == Lines{"one"});
  CHECK(lines_of("one\teins\ntwo\t\n", TextRole::reference) == Lines{"eins", ""});
  CHECK(lines_of("\tone\n\ttwo\n", TextRole::source) == Lines{"plain"});
  CHECK(lines_of("one\t\ntwo\t \n", TextRole::source) == Lines{"plain"});
  CHECK_FALSE(texts_of_role(table, "x.txt", TextRole::source, Tables::by_name).has_value());
  CHECK(texts_of_role(table, "x.TSV", TextRole::source, Tables::by_name).has_value());
  refuse("one\teins\ntwo zwei\n", "x.tsv:2: found 1 column, expected two", "x.tsv");
}

TEST_CASE("text that begins with a tag, and everything else, is plain") {
  for (const char* text : {"", "Hello", "<b>Hello</b> world\nMore\n", "<b>Hello</b>\n", "<unk> a",
                           "a < b", "< 5\n", "<3 you\n", "<p>\nnot closed\n"}) {
    INFO(text);
    CHECK(lines_of(text, TextRole::source) == Lines{"plain"});
  }
}

}  // namespace attn
