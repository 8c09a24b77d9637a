// Tests what sacreBLEU's goldens do not cover: the signature's name, errors, and invalid UTF-8.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "metrics/bleu.h"
#include "metrics/bleu_tokenizer.h"
#include "metrics/chrf.h"
#include "metrics/unicode_text.h"

namespace attn::test {
namespace {

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("signatures name this program, not sacreBLEU") {
  const std::string version = "|version:attn-demo-";
  CHECK(bleu_signature().find("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp" + version) == 0);
  CHECK(bleu_signature({.lowercase = true, .tokenizer = BleuTokenizer::none})
            .find("nrefs:1|case:lc|eff:no|tok:none|smooth:exp" + version) == 0);
  CHECK(chrf_signature().find("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no" + version) == 0);
  CHECK(chrf_signature({.lowercase = true}).find("|case:lc|") != std::string::npos);
}

TEST_CASE("counts that differ, and nothing at all, are errors") {
  const Lines one = {"a"};
  const Lines two = {"a", "b"};
  const char* differ = "1 hypotheses and 2 references; expected one reference for each hypothesis";
  CHECK_THROWS_WITH_AS(corpus_bleu(one, two), differ, std::invalid_argument);
  CHECK_THROWS_WITH_AS(corpus_chrf(one, two), differ, std::invalid_argument);
  const char* nothing = "nothing to score; expected at least one hypothesis";
  CHECK_THROWS_WITH_AS(corpus_bleu(Lines{}, Lines{}), nothing, std::invalid_argument);
  CHECK_THROWS_WITH_AS(corpus_chrf(Lines{}, Lines{}), nothing, std::invalid_argument);
}

TEST_CASE("what is the same scores 100, what shares nothing 0") {
  const Lines text = {"Die Gruppe ging nach Hause.", "Wir gingen am Sonntag in den Park."};
  const Lines other = {"xyz xyz", "xyz"};
  CHECK(corpus_bleu(text, text).score == doctest::Approx(100.0));
  CHECK(corpus_bleu(text, text).length_ratio() == 1.0);
  CHECK(corpus_chrf(text, text).score == doctest::Approx(100.0));
  CHECK(corpus_bleu(other, text).score == 0.0);
  CHECK(corpus_chrf(other, text).score == 0.0);
  CHECK(corpus_bleu(text, Lines{"", ""}).length_ratio() == 0.0);
}

TEST_CASE("invalid UTF-8 is scored byte by byte and never read past its end") {
  const std::string every_byte = [] {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
    return bytes;
  }();
  Lines broken = {"\xE2",     "\xE2\x80",     "\xC2", "a\xE3\x80",
                  "\x80\x80", "\xF0\x9F\x98", "\xFF", every_byte};
  for (std::string& line : broken)
    line.shrink_to_fit();  // lets a sanitizer detect a read of one byte too many
  const Lines good(broken.size(), "a b c");
  for (const bool lower : {false, true}) {
    CHECK(corpus_bleu(broken, good, {.lowercase = lower}).score < 5.0);
    CHECK(corpus_chrf(good, broken, {.lowercase = lower}).score < 20.0);
    CHECK(corpus_chrf(broken, broken, {.lowercase = lower}).score == doctest::Approx(100.0));
  }
  CHECK(lowercase("A\xE2") == "a\xE2");
  CHECK(tokenize_13a("a\xE2.") == "a\xE2 .");
  CHECK(split_at_spaces("\xE2\x80").size() == 1);
}

}  // namespace attn::test
